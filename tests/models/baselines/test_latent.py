import dataclasses
import json
import math

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import TINY, assert_same_run, random_images, state
from scipy import stats

from srmcmc_tf.cli import export, interpolate, reconstruct, sample
from srmcmc_tf.cli import train as command
from srmcmc_tf.config import config, presets
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.models import energies, factory
from srmcmc_tf.models.baselines.dcgan import DCGAN
from srmcmc_tf.models.baselines.vae import VAE
from srmcmc_tf.runs.run import Run
from srmcmc_tf.sampling import rng
from srmcmc_tf.training import callbacks, train

MODELS = {"vae": VAE, "dcgan": DCGAN}
both = pytest.mark.parametrize("name", MODELS)


def settings(name):
    tiny = {k: v for k, v in TINY.items() if k not in ("K", "sigma_half_life")}
    return Run("nowhere").settle({"model": name, **tiny})


def images(n=8):
    return pixels.to_float(random_images(n))


def fit(model, x):
    return model.fit(x, batch_size=len(x), shuffle=False, verbose=0).history


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Run directories of tiny baselines that nothing ended, by name."""
    there = {}

    def run(name):
        if name not in there:
            there[name] = tmp_path_factory.mktemp("runs") / name
            train.train(settings(name), there[name])
        return there[name]

    return run


@both
def test_a_killed_run_ends_in_the_same_bits(
    name, finished, tmp_path, monkeypatch, capsys
):
    class Killed(Exception):
        pass

    def kill(self, update, logs):
        if update == 8:  # three after a checkpoint
            raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(callbacks.Progress, "on_update", kill)
        train.train(settings(name), tmp_path / "run")
    train.train(settings(name), tmp_path / "run")
    assert "going on from update 5" in capsys.readouterr().out
    assert_same_run(finished(name), tmp_path / "run")


def test_a_checkpoint_of_the_dcgan_holds_all_of_it(finished):
    names = " ".join(state(finished("dcgan")))
    for network in ("generator", "discriminator"):
        assert f"{network}/" in names
        assert f"{network}_optimizer/" in names or network == "generator"
    model = Run(finished("dcgan")).load_model()
    fresh = factory.build(settings("dcgan"))
    for network in ("generator", "discriminator"):
        pairs = zip(
            getattr(model, network).non_trainable_variables,
            getattr(fresh, network).non_trainable_variables,
            strict=True,
        )
        moved = [not np.array_equal(a, b) for a, b in pairs]
        assert moved and all(moved)
    counts = [
        int(optimizer.iterations)
        for optimizer in (model.optimizer, model.discriminator_optimizer)
    ]
    assert counts == [12, 12]


@both
def test_a_sample_is_named_by_its_seed(name):
    model = MODELS[name](8, 1, n_f=4)
    x = model.sample([5, 9, 7])
    np.testing.assert_array_equal(model.start([9])[0], model.start([5, 9])[1])
    np.testing.assert_allclose(model.sample([9])[0], x[1], atol=1e-6)
    assert x.dtype == tf.float32 and np.abs(x).max() <= 1
    assert np.abs(x[0] - x[1]).max() > 0


@both
@pytest.mark.parametrize("size, channels", [(8, 3), (16, 1), (64, 3)])
def test_any_power_of_two_will_do(name, size, channels):
    model = MODELS[name](size, channels, n_f=2, latent=5)
    assert model.sample([1, 2]).shape == (2, size, size, channels)
    assert model.image_shape == (size, size, channels)
    with pytest.raises(ValueError, match="power of two"):
        MODELS[name](size + 4, channels)


@both
def test_both_networks_have_the_kernels_of_the_energy(name):
    """All but the last, which ends in f there and at z or a logit here."""
    f = energies.convnet(32, 3, n_f=4)
    wanted = [math.prod(w.shape) for w in f.weights if len(w.shape) == 4]
    model = MODELS[name](32, 3, n_f=4)
    other = model.encoder if name == "vae" else model.discriminator
    for network in (model.generator, other):
        kernels = [w for w in network.weights if len(w.shape) == 4]
        found = [math.prod(w.shape) for w in kernels]
        assert not set(wanted[:-1]) - set(found) and len(found) == len(wanted)


def test_the_bound_is_that_of_gaussians():
    model = VAE(8, 1, n_f=4, latent=3, seed=7)
    model.compile(keras.optimizers.SGD(0.0))
    x = images()
    logs = {k: v[0] for k, v in fit(model, x).items()}

    mean, log_sigma = (v.numpy() for v in model.encode(x))
    noise = rng.stream(7).fold(rng.TRAIN, 0, 0).normal([8, 3])
    decoded = model(mean + np.exp(log_sigma) * noise).numpy()
    mse = np.mean((x - decoded) ** 2)
    likelihood = stats.norm.logpdf(x, decoded, np.sqrt(mse)).mean()
    generator = np.random.default_rng(0)
    sigma = np.exp(log_sigma)
    z = mean + sigma * generator.normal(size=(50_000, 8, 3))
    ratio = stats.norm.logpdf(z, mean, sigma) - stats.norm.logpdf(z)
    kl = ratio.sum(axis=2).mean()
    assert logs["mse"] == pytest.approx(mse, rel=1e-5)
    assert logs["kl"] == pytest.approx(kl, rel=0.02)
    assert logs["loss"] == pytest.approx(
        -likelihood + logs["kl"] / 64, rel=1e-3
    )


def test_an_update_moves_both_networks_by_their_cross_entropies():
    model = DCGAN(8, 1, n_f=4, latent=3, seed=7)
    model.compile(keras.optimizers.SGD(0.1))
    x = images()
    noise = rng.stream(7).fold(rng.TRAIN, 0, 0).normal([8, 3])
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    one, zero = tf.ones([8, 1]), tf.zeros([8, 1])
    networks = model.generator, model.discriminator
    before = [[w.numpy() for w in n.trainable_variables] for n in networks]
    with tf.GradientTape(persistent=True) as tape:
        fake = model.discriminator(
            model.generator(noise, training=True), training=True
        )
        real = model.discriminator(x, training=True)
        losses = loss(one, fake), loss(one, real) + loss(zero, fake)
    slopes = [
        tape.gradient(value, network.trainable_variables)
        for value, network in zip(losses, networks, strict=True)
    ]
    fit(model, x)
    for network, old, slope in zip(networks, before, slopes, strict=True):
        for w, a, b in zip(
            network.trainable_variables, old, slope, strict=True
        ):
            np.testing.assert_allclose(w, a - 0.1 * b, atol=1e-6)


def linear_dcgan():
    """A DCGAN whose generator is x = A z: its posterior is a Gaussian."""
    model = DCGAN(8, 1, n_f=2, latent=2)
    A = np.random.default_rng(0).normal(0, 0.1, (2, 64)).astype(np.float32)
    model.generator = keras.Sequential(
        [
            keras.Input((2,)),
            keras.layers.Dense(64, use_bias=False),
            keras.layers.Reshape((8, 8, 1)),
        ]
    )
    model.generator.set_weights([A])
    return model, A.T


def test_inference_of_z_draws_from_its_posterior():
    model, A = linear_dcgan()
    x = np.tile(model(tf.constant([[1.0, -0.5]])), [400, 1, 1, 1])
    found = model.reconstruct(x, iterations=80, step=0.35, sigma=0.5)
    covariance = np.linalg.inv(A.T @ A / 0.5**2 + np.eye(2))
    mean = covariance @ A.T @ x[0].ravel() / 0.5**2
    z = found.z.numpy()
    np.testing.assert_allclose(z.mean(axis=0), mean, atol=0.1)
    np.testing.assert_allclose(np.cov(z.T), covariance, atol=0.06)


def test_inference_knows_only_what_is_observed():
    model, _ = linear_dcgan()
    mask = np.zeros([8, 8, 1], np.float32)
    mask[:4] = 1
    x = model(tf.constant([[1.0, -0.5]]))
    found, same = (
        model.reconstruct(
            image,
            observe=lambda x: x * mask,
            iterations=50,
            step=0.1,
            sigma=0.1,
            keep=(0, 50),
        )
        for image in (x, tf.where(mask > 0, x, -x))
    )
    np.testing.assert_array_equal(found.x, same.x)
    assert found.mse.shape == (51, 1) and found.frames.shape == (2, 1, 8, 8, 1)
    assert found.mse[-1, 0] < 0.1 * found.mse[0, 0]


def test_a_z_is_inferred_alike_whatever_the_batch():
    model, _ = linear_dcgan()
    x = model.sample([1, 2, 3])
    whole = model.reconstruct(x, seeds=[4, 5, 6], iterations=20)
    alone = model.reconstruct(x[1:2], seeds=[5], iterations=20)
    np.testing.assert_allclose(whole.z[1], alone.z[0], atol=1e-5)


@both
def test_a_saved_model_comes_back_with_its_optimizers(name, tmp_path):
    model = MODELS[name](8, 1, n_f=4, latent=3)
    model.compile()
    fit(model, images())
    model.save(tmp_path / "model.keras")
    other = keras.saving.load_model(tmp_path / "model.keras")
    fit(model, images()), fit(other, images())
    for a, b in zip(
        model.checkpoint_items().values(),
        other.checkpoint_items().values(),
        strict=True,
    ):
        for v, w in zip(a.variables, b.variables, strict=True):
            np.testing.assert_array_equal(v, w)


@both
def test_the_verbs_of_a_run_work(name, finished, tmp_path, capsys):
    common = [f"--workdir={finished(name)}", f"--out={tmp_path}"]
    sample.sample([*common, "--seeds=3-9", "--singles"])
    model = Run(finished(name)).load_model()
    with np.load(tmp_path / "samples.npz") as arrays:
        np.testing.assert_allclose(
            arrays["x"], model.sample(range(3, 10)), atol=1e-5
        )
        np.testing.assert_array_equal(arrays["z"], model.start(range(3, 10)))
    assert len(list(tmp_path.glob("seed_*.png"))) == 7
    interpolate.interpolate([*common, "--pairs=2", "--columns=3"])
    with np.load(tmp_path / "interpolation.npz") as arrays:
        np.testing.assert_allclose(
            arrays["x"][:, 0], model.sample([0, 2]), atol=1e-5
        )
    iterations = [] if name == "vae" else ["--iterations=4"]
    reconstruct.reconstruct([*common, "--n=60", *iterations])
    result = json.loads((tmp_path / "reconstruction.json").read_text())
    with np.load(tmp_path / "reconstruction.npz") as arrays:
        errors = (arrays["x"] - arrays["reconstruction"]) ** 2
        assert arrays["z"].shape == (60, 100)
    assert result["mse"] == pytest.approx(errors.mean(), rel=1e-5)
    assert f"{result['mse']:.4f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name, verb, flag",
    [
        ("vae", sample.sample, "--K=3"),
        ("dcgan", sample.sample, "--trace"),
        ("dcgan", sample.sample, "--deterministic"),
        ("vae", reconstruct.reconstruct, "--iterations=3"),
        ("vae", reconstruct.reconstruct, "--task=inpaint"),
        ("dcgan", reconstruct.reconstruct, "--rule=adam"),
    ],
)
def test_flags_that_mean_nothing_to_a_baseline_are_refused(
    name, verb, flag, finished
):
    with pytest.raises(UserError) as error:
        verb([f"--workdir={finished(name)}", flag])
    assert str(error.value).startswith(flag.split("=")[0] + " is not for")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("flag", ["K=3", "noise=0", "sigma=0.1"])
def test_settings_of_the_chain_are_refused(flag, tmp_path):
    run = f"--workdir={tmp_path / 'run'}"
    with pytest.raises(UserError, match="is not for --model=vae"):
        command.train([run, "--model=vae", f"--{flag}"])
    assert not (tmp_path / "run").exists()


def test_a_baseline_has_no_energy_to_export(finished):
    with pytest.raises(UserError, match="is a vae: no energy"):
        export.export([f"--workdir={finished('vae')}"])


def test_help_shows_the_defaults_of_the_model_asked_for(capsys):
    with pytest.raises(SystemExit):
        command.train(["--model=dcgan", "--help"])
    text = capsys.readouterr().out
    assert "--workdir=runs/digits_dcgan" in text
    assert "--learning_rate=0.0002" in text and "\n  --K=" not in text


@both
def test_data_are_given_without_noise(name):
    x = next(iter(train.dataset(settings(name), random_images(16))))
    levels = (x.numpy() + 1) * 127.5
    np.testing.assert_allclose(levels, np.round(levels), atol=1e-4)


def test_a_run_of_before_the_baselines_is_an_ebm():
    values = dataclasses.asdict(presets.load("digits"))
    del values["model"]
    assert config.from_dict(values) == presets.load("digits")


def test_the_weights_are_counted_when_a_run_starts(tmp_path, capsys):
    train.train(
        dataclasses.replace(settings("vae"), updates=1), tmp_path / "run"
    )
    model = factory.build(settings("vae"))
    text = f"vae: {model.count_params():,} weights (encoder "
    assert text in capsys.readouterr().out

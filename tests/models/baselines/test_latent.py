import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import TINY, assert_same_run, random_images

from srmcmc_tf.cli import interpolate, reconstruct, sample
from srmcmc_tf.data import pixels
from srmcmc_tf.models.baselines.dcgan import DCGAN
from srmcmc_tf.models.baselines.vae import VAE
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import train
from srmcmc_tf.training.callbacks.progress import Progress

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
    name, finished, tmp_path, monkeypatch, caplog
):
    class Killed(Exception):
        pass

    def kill(self, update, logs):
        if update == 8:  # three after a checkpoint
            raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(Progress, "on_update", kill)
        train.train(settings(name), tmp_path / "run")
    train.train(settings(name), tmp_path / "run")
    assert "resuming from update 5" in caplog.text
    assert_same_run(finished(name), tmp_path / "run")


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
def test_the_commands_work_on_a_run(name, finished, tmp_path, capsys):
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

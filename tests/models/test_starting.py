import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import random_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.models import energies
from srmcmc_tf.sampling import rng
from srmcmc_tf.sampling.kernels import Kernel
from srmcmc_tf.sampling.starts import Start
from srmcmc_tf.sampling.stopping import Stop

X = pixels.to_float(random_images(16))
FIT = dict(batch_size=8, shuffle=False, verbose=0)


def model(rate=0.1, K=2, **settings):
    energy = energies.convnet(8, 1, n_f=4, seed=3)
    found = srmcmc_tf.ShortRunEBM(energy, K=K, seed=5, **settings)
    found.compile(keras.optimizers.SGD(rate))
    return found


def test_contrastive_divergence_of_no_steps_has_no_gradient():
    cd = model(start="data", K=0)
    logs = cd.fit(X, **FIT).history
    zero = pytest.approx([0.0], abs=1e-6)  # two sums of the same values
    assert logs["gradient_norm"] == zero and logs["f_difference"] == zero
    assert model(K=0).fit(X, **FIT).history["gradient_norm"][0] > 1e-3


def test_contrastive_divergence_starts_at_the_batch():
    cd = model(start="data", rate=0.0)
    stream = rng.stream(5).fold(rng.TRAIN, 0, 0)
    ends = cd.stages[0].run(X[:8], stream).x
    logs = cd.train_on_batch(X[:8], return_dict=True)
    assert logs["f_samples"] == pytest.approx(
        float(tf.reduce_mean(cd.energy(ends))), rel=1e-5
    )


def test_a_persistent_bank_continues_where_it_stopped():
    start = Start(kind="persistent", bank=8, reinitialize=0.0)
    chains = model(start=start, rate=0.0, noise=0.0)
    first = chains.starting.bank.numpy()
    chains.fit(X[:8], epochs=3, **FIT)
    alone = model(rate=0.0, noise=0.0)
    ends = alone.stages[0].run(first, rng.stream(0), K=6).x
    np.testing.assert_allclose(chains.starting.bank, ends, atol=1e-6)
    assert np.abs(ends - first).max() > 1e-4


def test_reinitialized_chains_start_from_noise_again():
    start = Start(kind="persistent", bank=16, reinitialize=1.0)
    again = model(start=start).fit(X, **FIT).history
    assert again == model().fit(X, **FIT).history


def test_a_model_with_a_bank_resumes_from_its_file_in_the_same_bits(tmp_path):
    start = Start(kind="persistent", bank=16, reinitialize=0.3)
    whole = model(start=start, stop="level")
    whole.fit(X, epochs=2, **FIT)
    half = model(start=start, stop="level")
    half.fit(X, **FIT)
    half.save(tmp_path / "half.keras")
    half = keras.saving.load_model(tmp_path / "half.keras")
    half.fit(X, **FIT)
    for a, b in zip(
        [*whole.weights, *whole.starting.variables],
        [*half.weights, *half.starting.variables],
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(whole.sample([1, 2]), half.sample([1, 2]))
    assert whole.get_config()["start"] == half.get_config()["start"]
    assert whole.stages[0].stop == half.stages[0].stop


def test_a_seed_names_a_chain_of_the_bank():
    chains = model(start=Start(kind="persistent", bank=16))
    together, alone = chains.start([3, 4]), chains.start([4])
    np.testing.assert_array_equal(together[1], alone[0])
    gaps = np.abs(chains.starting.bank - alone).max(axis=(1, 2, 3))
    assert gaps.min() == 0


def test_a_batch_larger_than_the_bank_is_refused():
    small = model(start=Start(kind="persistent", bank=4))
    with pytest.raises(tf.errors.InvalidArgumentError, match="than the bank"):
        small.fit(X, **FIT)


def test_other_domains_are_started_from_each_image_once_in_a_round():
    other = model(start="dataset", rate=0.0, K=0)
    with pytest.raises(ValueError, match="set model.starting.images"):
        other.fit(X, **FIT)
    other.starting.images = random_images(16, seed=9)
    options = FIT | dict(batch_size=16)
    f = other.fit(X, **options).history["f_samples"]
    assert f[0] == pytest.approx(
        float(
            tf.reduce_mean(other(pixels.to_float(random_images(16, seed=9))))
        ),
        abs=1e-5,
    )


@pytest.mark.parametrize("task", ["inpaint", "upscale"])
def test_samples_of_degraded_images_keep_what_is_known(task):
    start = Start(kind="degraded", task=task, factor=2)
    filled = model(start=start, K=5, noise=0.1)
    filled.fit(X, **FIT)
    x = filled.sample([1, 2], images=X[:2])
    atol = 0 if task == "inpaint" else 1e-5
    np.testing.assert_allclose(start.known(x), start.known(X[:2]), atol=atol)
    again = filled.sample([2], images=X[1:2])
    np.testing.assert_allclose(again[0], x[1], atol=1e-5)
    assert not np.allclose(x, filled.sample([3, 4], images=X[:2]))


def test_images_are_needed_or_refused():
    with pytest.raises(ValueError, match="start='data': chains start from"):
        model(start="data").sample([1])
    with pytest.raises(ValueError, match="2 images for 1 seeds"):
        model(start="data").sample([1], images=X[:2])
    with pytest.raises(ValueError, match="start='noise': chains start from no"):
        model().sample([1], images=X[:1])
    with pytest.raises(ValueError, match="not from a z"):
        model(start="data").reconstruct(X[:1])
    with pytest.raises(ValueError, match="only plain Langevin"):
        model(kernel="hmc").interpolate(X[:1], X[:1], [0.5])


def test_the_level_follows_f_on_the_data_and_stops_chains():
    stopped = model(stop="level", K=3, rate=0.0)
    first = stopped.fit(X[:8], epochs=1, **FIT).history
    assert first["steps"] == [3.0] and first["steps_spread"] == [0.0]
    f_data = float(tf.reduce_mean(stopped(X[:8])))
    assert float(stopped.starting.level) == pytest.approx(f_data, rel=1e-5)
    stopped.starting.level.assign(-1e9)
    second = stopped.fit(X[:8], epochs=1, **FIT).history
    assert second["steps"] == [0.0] and second["evaluations"] == [1.0]
    np.testing.assert_array_equal(stopped.sample([1]), stopped.start([1]))


def test_an_infinite_stopping_time_trains_the_model_of_K():
    endless = model(stop=Stop(rule="slope", below=0.0))
    endless.fit(X, **FIT)
    fixed = model()
    fixed.fit(X, **FIT)
    for a, b in zip(endless.weights, fixed.weights, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(endless.sample([1, 2]), fixed.sample([1, 2]))


@pytest.mark.parametrize(
    ("kernel", "cost"), [("mala", 4), (Kernel(name="hmc", leapfrog=3), 8)]
)
def test_kernels_log_acceptance_and_evaluations(kernel, cost):
    logs = model(kernel=kernel).fit(X, **FIT).history
    assert logs["evaluations"] == [cost] and 0 <= logs["accepted"][0] <= 1
    assert "steps" not in logs


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(start="persistent", K=0), "chains of K=0 never move"),
        (
            dict(
                start=Start(kind="degraded", task="upscale"),
                kernel=Kernel(clamp=1.0),
            ),
            "clamp would change",
        ),
        (
            dict(start=Start(kind="degraded", mask=np.eye(16))),
            "the mask is 16x16, the images are 8x8",
        ),
    ],
)
def test_combinations_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        model(**settings)

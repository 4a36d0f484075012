"""FID, KID, IS: values, sums, and tensorflow-gan's word on all of them."""

import subprocess
import sys

import keras
import numpy as np
import pytest
import scipy.linalg
import tensorflow as tf
from helpers import ROOT

from srmcmc_tf.metrics import FID, KID, InceptionScore, tfgan
from srmcmc_tf.metrics.fid import Moments, frechet_distance

D = 12


def features(n, seed, scale=1.0, shift=0.0):
    generator = np.random.default_rng(seed)
    mixing = np.random.default_rng(7).normal(size=(D, D))
    x = generator.normal(size=(n, D)) @ mixing
    return (scale * x + shift).astype(np.float32)


REAL, FAKE = features(400, 1), features(600, 2, scale=1.3, shift=0.4)


def moments(x):
    fid = FID(x.shape[1])
    fid.update_state(x)
    return fid.moments()


def all_metrics():
    return [
        FID(D, moments(REAL)),
        KID(D, REAL, capacity=500, blocks=5),
        InceptionScore(D, splits=4),
    ]


def results(metrics):
    found = [metric.result() for metric in metrics]
    return [np.array(tf.nest.flatten(result)) for result in found]


@pytest.fixture(scope="module")
def expected():
    """The values of all metrics for FAKE given at once."""
    metrics = all_metrics()
    for metric in metrics:
        metric.update_state(FAKE)
    return results(metrics)


def test_every_metric_agrees_with_tensorflow_gan(expected):
    gan = tfgan.load()
    real, fake = tf.constant(REAL), tf.constant(FAKE)
    fid = gan.frechet_classifier_distance_from_activations(real, fake)
    np.testing.assert_allclose(expected[0], fid, rtol=1e-5)
    kid = gan.kernel_classifier_distance_and_std_from_activations(
        real, fake[:500], 100, tf.float64
    )
    np.testing.assert_allclose(expected[1], kid, rtol=1e-9)
    scores = [gan.classifier_score_from_logits(fake[i::4]) for i in range(4)]
    np.testing.assert_allclose(
        expected[2], [np.mean(scores), np.std(scores)], rtol=1e-4
    )


def test_kid_is_the_unbiased_estimate_written_out():
    kid = KID(D, REAL[:50], capacity=60, blocks=1)
    kid.update_state(FAKE[:60])
    x, y = REAL[:50].astype(float), FAKE[:60].astype(float)

    def kernel(a, b):
        return (a @ b.T / D + 1) ** 3

    def pairs(a):
        k = kernel(a, a)
        return (k.sum() - np.trace(k)) / (len(a) * (len(a) - 1))

    value = pairs(x) + pairs(y) - 2 * kernel(x, y).mean()
    np.testing.assert_allclose(kid.result()["kid"], value, rtol=1e-9)
    assert np.isnan(kid.result()["kid_standard_error"])  # of one block


def test_kid_of_one_law_is_zero_within_its_error():
    kid = KID(D, features(2000, 3), capacity=2000)
    kid.update_state(features(2000, 4))
    result = kid.result()
    assert abs(result["kid"]) < 3 * result["kid_standard_error"]


def test_few_samples_make_fewer_blocks():
    kid = KID(D, REAL, capacity=7)
    kid.update_state(FAKE[:7])
    assert np.isfinite(float(kid.result()["kid_standard_error"]))


@pytest.mark.parametrize("n", [5, D + 1, 300])
def test_equal_sets_are_at_zero_from_each_other(n):
    x = moments(features(n, 5, shift=3.0))
    assert abs(frechet_distance(x, x)) < 1e-6


def test_frechet_distance_of_known_gaussians():
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(D, D)))[0]
    a, b = np.linspace(0.1, 2, D), np.linspace(3, 0.5, D)
    mean = np.linspace(-1, 1, D)
    # With common eigenvectors, the roots are those of the eigenvalues.
    one = Moments(9, mean, rotation @ np.diag(a) @ rotation.T)
    two = Moments(9, np.zeros(D), rotation @ np.diag(b) @ rotation.T)
    value = mean @ mean + ((np.sqrt(a) - np.sqrt(b)) ** 2).sum()
    np.testing.assert_allclose(frechet_distance(one, two), value, rtol=1e-12)


def test_frechet_distance_is_symmetric_and_agrees_with_scipy():
    a, b = moments(REAL), moments(FAKE)
    root = scipy.linalg.sqrtm(a.covariance @ b.covariance).real
    value = np.sum((a.mean - b.mean) ** 2) + np.trace(
        a.covariance + b.covariance - 2 * root
    )
    np.testing.assert_allclose(frechet_distance(a, b), value, rtol=1e-9)
    np.testing.assert_allclose(
        frechet_distance(a, b), frechet_distance(b, a), rtol=1e-9
    )


def test_moments_are_those_of_numpy_far_from_zero():
    x = features(500, 6, shift=1000.0)
    found = moments(x)
    np.testing.assert_allclose(found.mean, x.mean(0, dtype=float), rtol=1e-12)
    np.testing.assert_allclose(
        found.covariance, np.cov(x.astype(float), rowvar=False), rtol=1e-6
    )


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_neither_batch_size_nor_order_matters(expected, batch):
    order = np.random.default_rng(batch).permutation(len(FAKE))
    metrics = all_metrics()
    for i in range(0, len(FAKE), batch):
        index = order[i : i + batch]
        for metric in metrics:
            metric.update_state(FAKE[index], index)
    for found, wanted in zip(results(metrics), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    # A row a sample: not even rounded otherwise.
    np.testing.assert_array_equal(results(metrics)[1], expected[1])


def test_merged_parts_are_the_whole(expected):
    whole, part = all_metrics(), all_metrics()
    for a, b in zip(whole, part, strict=True):
        a.update_state(FAKE[:130], range(130))
        b.update_state(FAKE[130:], range(130, len(FAKE)))
        a.merge_state([b])
    for found, wanted in zip(results(whole), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_updates_can_be_compiled(expected):
    metrics = all_metrics()

    @tf.function(reduce_retracing=True)
    def update(x):
        for metric in metrics:
            metric.update_state(x)

    for i in range(0, len(FAKE), 100):
        update(tf.constant(FAKE[i : i + 100]))
    for found, wanted in zip(results(metrics), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_replicas_add_up(expected):
    code = """
import srmcmc_tf, tensorflow as tf
from test_fid import *
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    metrics = all_metrics()
@tf.function
def update(x, index):
    for metric in metrics:
        metric.update_state(x, index)
index = tf.range(len(FAKE), dtype=tf.int64)
batches = tf.data.Dataset.from_tensor_slices((FAKE, index)).batch(100)
for x, index in strategy.experimental_distribute_dataset(batches):
    strategy.run(update, (x, index))
print(*(repr(float(v)) for r in results(metrics) for v in r.ravel()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT / "tests" / "metrics",
        env={
            **__import__("os").environ,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
        },
    )
    assert done.returncode == 0, done.stderr
    found = list(map(float, done.stdout.splitlines()[-1].split()))
    wanted = [v for result in expected for v in result.ravel()]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_one_index_for_two_samples_is_refused():
    kid = KID(D, REAL, capacity=10)
    kid.update_state(FAKE[:2], [3, 3])
    with pytest.raises(ValueError, match="same index"):
        kid.result()


def test_a_new_start_forgets_all_samples():
    fid = FID(D, moments(REAL))
    fid.update_state(FAKE)
    fid.reset_state()
    with pytest.raises(ValueError, match="needs 2 samples, there are 0"):
        fid.result()
    fid.update_state(REAL)
    assert abs(fid.result()) < 1e-6


def test_configs_bring_metrics_back(expected):
    for metric, wanted in zip(all_metrics(), expected, strict=True):
        config = keras.saving.serialize_keras_object(metric)
        back = keras.saving.deserialize_keras_object(config)
        back.update_state(FAKE)
        np.testing.assert_array_equal(results([back])[0], wanted)
        assert back.name == metric.name


def test_a_score_is_between_one_and_the_number_of_classes():
    blind, sure = InceptionScore(5), InceptionScore(5)
    blind.update_state(np.zeros([20, 5]))
    sure.update_state(1e4 * np.repeat(np.eye(5), 10, axis=0))
    np.testing.assert_allclose(blind.result()["is"], 1.0)
    np.testing.assert_allclose(sure.result()["is"], 5.0)

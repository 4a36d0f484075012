"""All metrics are sums over samples: any order, any batches, any parts.

Those of replicas: tests/distribution/test_devices.py.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import random_features

from srmcmc_tf.scores.fid import FID
from srmcmc_tf.scores.inception_score import InceptionScore
from srmcmc_tf.scores.kid import KID

REAL = random_features(400, 1)
FAKE = random_features(600, 2, scale=1.3, shift=0.4)
D = REAL.shape[1]


def all_metrics():
    reference = FID(D)
    reference.update_state(REAL)
    return [
        FID(D, reference.moments()),
        KID(D, REAL, capacity=500, blocks=5),
        InceptionScore(D, splits=4),
    ]


def results(metrics):
    found = [metric.result() for metric in metrics]
    return [np.array(tf.nest.flatten(result)) for result in found]


@pytest.fixture(scope="module")
def expected():
    """The values of all metrics for all of FAKE in one batch."""
    metrics = all_metrics()
    for metric in metrics:
        metric.update_state(FAKE)
    return results(metrics)


@pytest.mark.parametrize(
    "cuts",
    [range(1, 30), range(7, 600, 7), range(64, 600, 64)],
    ids=["1 at first", "7", "64"],
)
def test_neither_batch_size_nor_order_matters(expected, cuts):
    order = np.random.default_rng(len(cuts)).permutation(len(FAKE))
    metrics = all_metrics()
    for index in np.split(order, cuts):
        for metric in metrics:
            metric.update_state(FAKE[index], index)
    for found, wanted in zip(results(metrics), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    # One row per sample: not even the rounding differs.
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


def test_metrics_are_restored_from_their_configs(expected):
    for metric, wanted in zip(all_metrics(), expected, strict=True):
        config = keras.saving.serialize_keras_object(metric)
        back = keras.saving.deserialize_keras_object(config)
        back.update_state(FAKE)
        np.testing.assert_array_equal(results([back])[0], wanted)
        assert back.name == metric.name

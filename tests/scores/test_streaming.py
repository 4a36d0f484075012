"""All metrics are sums over samples: any order, batches, parts, replicas."""

import os
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import ROOT, random_features

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


def test_replicas_add_up(expected):
    code = """
import srmcmc_tf, tensorflow as tf
from test_streaming import *
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
        cwd=ROOT / "tests" / "scores",
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
        },
    )
    assert done.returncode == 0, done.stderr
    found = list(map(float, done.stdout.splitlines()[-1].split()))
    wanted = [v for result in expected for v in result.ravel()]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_metrics_are_restored_from_their_configs(expected):
    for metric, wanted in zip(all_metrics(), expected, strict=True):
        config = keras.saving.serialize_keras_object(metric)
        back = keras.saving.deserialize_keras_object(config)
        back.update_state(FAKE)
        np.testing.assert_array_equal(results([back])[0], wanted)
        assert back.name == metric.name

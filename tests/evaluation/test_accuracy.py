import math
import types

import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.evaluation import measure
from srmcmc_tf.evaluation.accuracy import accuracy


def bright_or_dark(x):
    return tf.cast(tf.reduce_mean(x, axis=(1, 2, 3)) > 0, tf.int32)


MODEL = types.SimpleNamespace(classify=bright_or_dark, n_classes=2)


def test_the_accuracy_is_the_share_of_right_classes():
    images = np.zeros((10, 8, 8, 1), np.uint8)
    images[5:] = 255
    labels = np.int32([0] * 4 + [1] * 6)  # one of them wrong
    found = accuracy(MODEL, images, labels, batch=4)
    assert found["value"] == 0.9 and found["n"] == 10
    assert found["standard_error"] == pytest.approx(math.sqrt(0.09 / 10))
    line = measure.describe("accuracy", found)
    assert "accuracy 0.9000" in line
    assert "n=10 left-out examples of 2 classes" in line


def test_nothing_is_measured_without_examples():
    images = np.zeros((0, 8, 8, 1), np.uint8)
    found = accuracy(MODEL, images, np.zeros(0, np.int32))
    assert found["value"] is None
    assert "no examples were left out" in measure.describe("accuracy", found)

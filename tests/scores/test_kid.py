"""KID: an unbiased estimate with a standard error."""

import numpy as np
import pytest
import tensorflow as tf
from helpers import random_features

from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.scores.kid import KID

REAL = random_features(400, 1)
FAKE = random_features(600, 2, scale=1.3, shift=0.4)
D = REAL.shape[1]


def test_it_agrees_with_tensorflow_gan():
    gan = compat.tensorflow_gan_metrics()
    kid = KID(D, REAL, capacity=500, blocks=5)
    kid.update_state(FAKE)
    estimate = gan.kernel_classifier_distance_and_std_from_activations
    wanted = estimate(
        tf.constant(REAL), tf.constant(FAKE[:500]), 100, tf.float64
    )
    found = kid.result()
    np.testing.assert_allclose(
        [found["kid"], found["kid_standard_error"]], wanted, rtol=1e-9
    )


def test_it_is_the_unbiased_estimate_written_out():
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


def test_it_is_zero_within_its_error_for_equal_distributions():
    kid = KID(D, random_features(2000, 3), capacity=2000)
    kid.update_state(random_features(2000, 4))
    result = kid.result()
    assert abs(result["kid"]) < 3 * result["kid_standard_error"]


def test_few_samples_make_fewer_blocks():
    kid = KID(D, REAL, capacity=7)
    kid.update_state(FAKE[:7])
    assert np.isfinite(float(kid.result()["kid_standard_error"]))


def test_one_index_for_two_samples_is_refused():
    kid = KID(D, REAL, capacity=10)
    kid.update_state(FAKE[:2], [3, 3])
    with pytest.raises(ValueError, match="same index"):
        kid.result()

"""FID: the distance of Gaussians, from sums."""

import numpy as np
import pytest
import scipy.linalg
import tensorflow as tf
from helpers import random_features

from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.scores.fid import (
    FID,
    Moments,
    frechet_distance,
    standard_error,
)

REAL = random_features(400, 1)
FAKE = random_features(600, 2, scale=1.3, shift=0.4)
D = REAL.shape[1]


def moments(x):
    fid = FID(x.shape[1])
    fid.update_state(x)
    return fid.moments()


def test_it_agrees_with_tensorflow_gan():
    gan = compat.tensorflow_gan_metrics()
    fid = FID(D, moments(REAL))
    fid.update_state(FAKE)
    distance = gan.frechet_classifier_distance_from_activations
    wanted = distance(tf.constant(REAL), tf.constant(FAKE))
    np.testing.assert_allclose(fid.result(), wanted, rtol=1e-5)


@pytest.mark.parametrize("n", [5, D + 1, 300])
def test_the_distance_of_equal_sets_is_zero(n):
    x = moments(random_features(n, 5, shift=3.0))
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
    x = random_features(500, 6, shift=1000.0)
    found = moments(x)
    np.testing.assert_allclose(found.mean, x.mean(0, dtype=float), rtol=1e-12)
    np.testing.assert_allclose(
        found.covariance, np.cov(x.astype(float), rowvar=False), rtol=1e-6
    )


def test_a_reset_forgets_all_samples():
    fid = FID(D, moments(REAL))
    fid.update_state(FAKE)
    fid.reset_state()
    with pytest.raises(ValueError, match="needs 2 samples, there are 0"):
        fid.result()
    fid.update_state(REAL)
    assert abs(fid.result()) < 1e-6


@pytest.mark.parametrize("n", [D // 2, 20 * D])  # singular, and not
def test_the_standard_error_is_the_spread_over_sets(n):
    real = moments(REAL)
    values, errors = [], []
    for seed in range(200):
        x = random_features(n, 10 + seed, scale=1.3, shift=0.4)
        own = Moments(n, x.mean(0), np.cov(x.T))
        values.append(frechet_distance(own, real))
        errors.append(standard_error(x, own, real))
    assert np.mean(errors) == pytest.approx(np.std(values, ddof=1), rel=0.25)


def test_the_standard_error_of_some_samples_is_that_of_all():
    own, real = moments(FAKE), moments(REAL)
    whole = standard_error(FAKE, own, real)
    assert standard_error(FAKE[:300], own, real) == pytest.approx(
        whole, rel=0.2
    )

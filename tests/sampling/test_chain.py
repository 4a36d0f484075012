import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.models import energies
from srmcmc_tf.sampling import chain, rng

langevin = tf.function(chain.langevin)


@pytest.mark.parametrize("K", [1, 7, 40])
def test_quadratic_f_gives_the_gaussian_known_in_closed_form(K):
    a, step_size, noise, n = 3.0, 0.1, 0.2, 200_000
    chain = langevin(
        lambda x: -0.5 * a * tf.reduce_sum(x**2, axis=1),
        tf.fill([n, 1], 2.0),
        rng.stream(0),
        K=K,
        step_size=step_size,
        noise=noise,
    )
    shrink = 1 - step_size * a
    mean = 2.0 * shrink**K
    variance = noise**2 * (1 - shrink ** (2 * K)) / (1 - shrink**2)
    x = chain.x.numpy()
    assert abs(x.mean() - mean) < 4 * np.sqrt(variance / n)
    assert abs(x.var() - variance) < 4 * variance * np.sqrt(2 / n)


def test_norm_of_f_prime_is_the_mean_over_steps_and_chains():
    chain = langevin(
        lambda x: tf.reduce_sum(x, axis=1) * 3.0,
        tf.zeros([5, 4]),
        rng.stream(0),
        K=6,
    )
    np.testing.assert_allclose(chain.f_prime_norm, 6.0, rtol=1e-6)


def test_no_step_leaves_the_start():
    z = rng.stream(3).uniform([2, 8, 8, 1])
    f = energies.convnet(8, 1, n_f=2)
    np.testing.assert_array_equal(langevin(f, z, rng.stream(0), K=0).x, z)


def test_an_ascent_is_the_chain_without_noise():
    f = energies.convnet(8, 1, n_f=2)
    z = rng.stream(3).uniform([2, 8, 8, 1])
    ends = tf.function(chain.ascend)(f, z, K=4)
    for seed in (0, 1):
        same = langevin(f, z, rng.stream(seed), K=4, noise=0.0).x
        np.testing.assert_array_equal(ends, same)


def test_the_same_chain_gives_the_same_bits_every_time():
    f = energies.convnet(8, 1, n_f=16)
    z = rng.stream(3).uniform([64, 8, 8, 1])
    K = tf.constant(50)
    first = langevin(f, z, rng.stream(0), K=K).x.numpy()
    for _ in range(20):
        again = langevin(f, z, rng.stream(0), K=K).x.numpy()
        np.testing.assert_array_equal(first, again)


def test_chain_leaves_the_image_range_unclipped():
    chain = langevin(
        lambda x: tf.reduce_sum(x, axis=1),
        tf.zeros([2, 3]),
        rng.stream(0),
        K=5,
    )
    assert (chain.x.numpy() > 4).all()

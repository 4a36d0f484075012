import keras
import numpy as np
import pytest
import tensorflow as tf

import srmcmc_tf
from srmcmc_tf.models import energies
from srmcmc_tf.sampling import chain, inversion, rng


@pytest.fixture
def smooth():
    """A network with curvature, unlike those of the paper."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(4, 3, activation="tanh"),
            layers.Conv2D(4, 3, 2, activation="tanh"),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )


def squares(x):
    return tf.reduce_sum(tf.square(x - 0.3), [1, 2, 3])


def ends(f, z, K):
    return chain.ascend(f, z, K=K)


compiled = tf.function(inversion.through_chain)


@pytest.mark.parametrize("K", [1, 2, 7, 16, 23])
def test_gradient_is_that_of_the_naive_tape(smooth, K):
    z = rng.stream(1).uniform([3, 8, 8, 1])
    with tf.GradientTape() as tape:
        tape.watch(z)
        losses = squares(ends(smooth, z, K))
    x, values, gradient = compiled(smooth, z, squares, K=tf.constant(K))
    np.testing.assert_allclose(values, losses, rtol=1e-5)
    np.testing.assert_allclose(gradient, tape.gradient(losses, z), atol=1e-5)
    np.testing.assert_allclose(x, ends(smooth, z, K), atol=1e-6)


def test_gradient_agrees_with_finite_differences(smooth):
    z = rng.stream(1).uniform([1, 8, 8, 1])
    _, _, gradient = compiled(smooth, z, squares, K=tf.constant(9))
    way = rng.stream(2).normal(z.shape)
    e = 1e-2
    above, below = (squares(ends(smooth, z + s * e * way, 9)) for s in (1, -1))
    slope = tf.reduce_sum(gradient * way)
    np.testing.assert_allclose((above - below) / (2 * e), [slope], rtol=5e-3)
    identity = tf.reduce_sum(2 * (ends(smooth, z, 9) - 0.3) * way)
    assert abs(identity - slope) > 10 * abs(
        (above - below)[0] / (2 * e) - slope
    )


def test_for_the_papers_networks_the_chain_is_locally_a_shift():
    f = energies.convnet(8, 1, n_f=4)
    z = rng.stream(1).uniform([2, 8, 8, 1])
    x, _, gradient = compiled(f, z, squares, K=tf.constant(9))
    np.testing.assert_allclose(gradient, 2 * (x - 0.3), atol=1e-5)


@pytest.mark.parametrize("rule", ["descent", "adam"])
def test_descent_finds_a_start_that_ends_at_the_image(rule, tiny_model):
    x = tiny_model.sample([7, 8], noise=0.0)
    found = tiny_model.reconstruct(x, iterations=100, rule=rule, keep=(0, 100))
    mse = found.mse.numpy()
    assert mse.shape == (101, 2) and found.frames.shape == (2, 2, 8, 8, 1)
    assert (mse[-1] < 0.02 * mse[0]).all()
    np.testing.assert_allclose(
        mse[-1], np.mean((found.x - x) ** 2, axis=(1, 2, 3)), rtol=1e-4
    )


def test_only_what_is_observed_is_fitted(tiny_model):
    x = tiny_model.sample([7], noise=0.0)
    mask = np.zeros([8, 8, 1], np.float32)
    mask[:4] = 1
    seen = tiny_model.reconstruct(x, observe=lambda x: x * mask, iterations=100)
    other = tf.where(mask > 0, x, -x)
    same = tiny_model.reconstruct(
        other, observe=lambda x: x * mask, iterations=100
    )
    np.testing.assert_array_equal(seen.x, same.x)
    error = np.abs(seen.x - x)[0]
    assert error[:4].mean() < 0.1 * error[4:].mean()


def test_interpolation_starts_and_ends_at_the_samples_of_its_seeds(tiny_model):
    z = tiny_model.start([3, 4])
    x = tiny_model.interpolate(z[:1], z[1:], [1.0, 0.6, 0.0])
    samples = tiny_model.sample([3, 4], noise=0.0)
    np.testing.assert_allclose(x[0, 0], samples[0], atol=1e-5)
    np.testing.assert_allclose(x[0, 2], samples[1], atol=1e-5)


def test_interpolated_starts_keep_their_variance():
    model = srmcmc_tf.ShortRunEBM(energies.convnet(8, 1, n_f=2), K=0)
    z1, z2 = model.start(range(200)), model.start(range(200, 400))
    z = model.interpolate(z1, z2, [0.3, 0.7, 0.9]).numpy()
    np.testing.assert_allclose(z.var(axis=(0, 2, 3, 4)), 1 / 3, rtol=0.03)
    assert np.abs(z).max() > 1.2  # not their range


def test_a_trace_passes_through_the_samples(tiny_model):
    trace = tiny_model.trace([5, 6], [0, 2, 3])
    np.testing.assert_array_equal(trace[:, 0], tiny_model.start([5, 6]))
    np.testing.assert_allclose(
        trace[:, 1], tiny_model.sample([5, 6], K=2), atol=1e-6
    )
    np.testing.assert_allclose(
        trace[:, 2], tiny_model.sample([5, 6]), atol=1e-6
    )


def test_the_best_start_is_kept_where_a_descent_diverges():
    def run(z):
        return z, tf.identity

    z, x = tf.constant([[1.0], [5.0]]), tf.zeros([2, 1])
    settings = dict(metric=30.0, iterations=3)  # each step: z to -5 z
    last = inversion.infer(run, x, z, **settings)
    np.testing.assert_allclose(last.z, -125.0 * z)
    best = inversion.infer(run, x, z, best=True, **settings)
    np.testing.assert_array_equal(best.z, z)
    np.testing.assert_array_equal(best.mse, 4 * [[1.0, 25.0]])
    for found, wanted in ((False, last), (True, best)):
        ends, mse = inversion.descend(run, x, z, best=found, **settings)
        np.testing.assert_allclose(ends, wanted.x)
        np.testing.assert_allclose(mse, wanted.mse[-1])

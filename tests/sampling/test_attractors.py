import numpy as np
import tensorflow as tf

from srmcmc_tf.sampling import attractors

MEMORIES = np.array([[0.8, 0.0], [-0.8, 0.0], [0.0, 0.6]], np.float32)
run_to_rest = tf.function(attractors.run_to_rest)


def f(x):
    """Three wells: log of a sum of bumps."""
    gaps = tf.reduce_sum((x[:, None] - MEMORIES) ** 2, axis=2)
    return tf.reduce_logsumexp(-gaps / 0.05, axis=1)


def test_chains_come_to_rest_at_the_maxima_and_nowhere_else():
    x = np.random.default_rng(0).uniform(-1, 1, [300, 2]).astype(np.float32)
    rest = run_to_rest(f, x)
    assert rest.at_rest.numpy().all() and (rest.steps.numpy() > 0).all()
    found = attractors.distinct(rest.x.numpy())
    assert len(found.x) == 3 and found.sizes.sum() == 300
    assert (np.diff(found.sizes) <= 0).all()
    for x in MEMORIES:
        assert np.abs(found.x - x).max(axis=1).min() < 0.01
    np.testing.assert_array_equal(np.bincount(found.member), found.sizes)
    np.testing.assert_allclose(found.x[found.member], rest.x, atol=0.02)


def test_corrupted_memories_are_recalled():
    noise = np.random.default_rng(0).normal(size=[60, 2]) * 0.1
    rest = run_to_rest(f, np.float32(np.repeat(MEMORIES, 20, 0) + noise))
    np.testing.assert_allclose(rest.x, np.repeat(MEMORIES, 20, 0), atol=0.01)


def test_chains_stay_in_range_and_rest_at_its_edges():
    def corner(x):  # piecewise linear and unbounded
        return tf.reduce_sum(x - 2 * tf.abs(x - [0.3, 5.0]), axis=1)

    rest = run_to_rest(corner, tf.zeros([4, 2]))
    assert rest.at_rest.numpy().all()
    np.testing.assert_allclose(rest.x, [[0.3, 1.0]] * 4, atol=2e-3)


def test_a_chain_that_still_moves_is_not_at_rest():
    rest = run_to_rest(lambda x: tf.reduce_sum(x, 1), tf.fill([1, 2], -1.0),
                       step_size=0.01, steps=3)  # fmt: skip
    assert not rest.at_rest.numpy().any() and rest.steps.numpy() == [3]

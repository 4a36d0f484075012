import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.sampling import degrade, rng

SHAPE = (8, 8, 3)
SETTINGS = dict(mask="center", factor=4)
STARTS = dict(start_noise=0.5, **SETTINGS)
X = rng.stream(1).uniform([4, *SHAPE])
NOISE = rng.stream(2).uniform([4, *SHAPE])


@pytest.mark.parametrize("task", degrade.TASKS)
def test_a_degraded_image_has_what_is_known_and_nothing_else(task):
    known = degrade.observe(task, SHAPE, **SETTINGS)
    start = degrade.degrade(X, NOISE, task=task, **STARTS)
    np.testing.assert_allclose(known(start), known(X), atol=1e-6)
    other = tf.random.stateless_uniform(X.shape, [3, 4], -1.0)
    free = degrade.free_directions(task, SHAPE, **SETTINGS)
    same = degrade.degrade(X + free(other), NOISE, task=task, **STARTS)
    np.testing.assert_allclose(same, start, atol=1e-5)
    again = degrade.degrade(X, other, task=task, **STARTS)
    assert np.abs(again - start).max() > 0.1  # other noise, other start


@pytest.mark.parametrize("task", degrade.TASKS)
def test_free_directions_are_an_orthogonal_projection(task):
    free = degrade.free_directions(task, SHAPE, **SETTINGS)
    known = degrade.observe(task, SHAPE, **SETTINGS)
    moved = free(NOISE)
    np.testing.assert_allclose(free(moved), moved, atol=1e-6)
    np.testing.assert_allclose(known(moved), tf.zeros_like(X), atol=1e-6)
    held = tf.reduce_sum(moved * (X - free(X)))
    np.testing.assert_allclose(held, 0, atol=1e-4)
    assert np.abs(moved).max() > 0.1


def test_tasks_that_do_not_fit_the_images_are_refused():
    with pytest.raises(ValueError, match="factor=3: must divide 8"):
        degrade.observe("upscale", SHAPE, mask="", factor=3)
    with pytest.raises(ValueError, match="gray, not in color"):
        degrade.observe("colorize", (8, 8, 1), mask="", factor=3)

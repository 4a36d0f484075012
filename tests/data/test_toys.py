"""Toys: exact draws of known densities."""

import dataclasses

import numpy as np
import pytest

from srmcmc_tf.config import presets
from srmcmc_tf.config.datasets import DATASETS
from srmcmc_tf.data import toys
from srmcmc_tf.errors import UserError
from srmcmc_tf.sampling import rng

ALL = [(d.name, toy) for d in DATASETS.values() for toy in d.toys]


def grid(d, cells=200):
    axis = (np.arange(cells) + 0.5) * (2 / cells) - 1
    return np.stack(np.meshgrid(*[axis] * d), axis=-1).reshape(-1, d)


@pytest.mark.parametrize("dataset, name", ALL)
def test_density_has_mass_one_inside_the_box_of_the_starts(dataset, name):
    toy = toys.get(dataset, name)
    points = grid(toy.centers.shape[1])
    mass = toys.density(toy, points).mean() * 2 ** points.shape[1]
    assert abs(mass - 1) < 2e-3


@pytest.mark.parametrize("dataset, name", ALL)
def test_draws_follow_the_density(dataset, name):
    toy = toys.get(dataset, name)
    x = toys.draw(toy, 20_000, rng.stream(3))
    points = grid(toy.centers.shape[1])
    p = toys.density(toy, points)
    # Means of a few functions, within five standard errors.
    for function in (lambda x: x[:, 0], lambda x: np.cos(5 * x).prod(axis=1)):
        expected = np.average(function(points), weights=p)
        values = function(x)
        error = values.std() / np.sqrt(len(x))
        assert abs(values.mean() - expected) < 5 * error + 1e-3


def test_draws_are_named_by_their_seed():
    toy = toys.get("toy_2d", "rings")
    first, again, other = (toys.draw(toy, 50, rng.stream(s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1


def test_a_toy_of_another_data_set_is_explained():
    line = presets.load("toy_1d")
    with pytest.raises(UserError, match="toy_1d has mixtures"):
        dataclasses.replace(line, toy="rings")
    with pytest.raises(UserError, match="digits has no toys"):
        dataclasses.replace(presets.load("digits"), toy="rings")

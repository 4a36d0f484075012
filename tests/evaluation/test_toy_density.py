"""Densities of toys: estimates, and what a trained model has learned."""

import dataclasses
import json

import numpy as np
import pytest

from srmcmc_tf.config import presets
from srmcmc_tf.data import toys
from srmcmc_tf.evaluation import toy_density
from srmcmc_tf.models import factory
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import train


def test_kde_of_one_point_is_a_bell_of_the_bandwidth():
    axis = np.linspace(-1, 1, 2001)
    bell = toy_density.kde(np.array([[0.25]]), axis)
    assert abs(axis[bell.argmax()] - 0.25) < 1e-3
    np.testing.assert_allclose(bell.sum() * 1e-3, 1, rtol=1e-3)
    variance = (bell * (axis - 0.25) ** 2).sum() * 1e-3
    np.testing.assert_allclose(variance, toy_density.BANDWIDTH**2, rtol=1e-2)


def test_modes_are_the_local_maxima_highest_first():
    axis = np.linspace(-1, 1, 5)
    peaks = np.zeros([5, 5])
    peaks[1, 3], peaks[4, 0] = 1.0, 2.0
    found = toy_density.modes(axis, peaks)
    np.testing.assert_array_equal(found, [[1.0, -1.0], [-0.5, 0.5]])


@pytest.fixture(
    scope="module",
    params=["toy_1d", pytest.param("toy_2d", marks=pytest.mark.slow)],
)
def learned(request, tmp_path_factory):
    """A run of a toy: its directory, its `Densities`, numbers."""
    workdir = tmp_path_factory.mktemp("toys") / request.param
    settings = presets.load(request.param)
    if request.param == "toy_1d":  # a third of the default is enough
        short = dict(anneal_after=300, learning_rate_half_life=60)
        settings = dataclasses.replace(settings, updates=650, **short)
    train.train(settings, workdir)
    model = Run(workdir).load_model()
    toy = toys.get(settings.dataset, settings.toy)
    found = toy_density.estimate(model, toy)
    return workdir, toy, found, toy_density.measure(found)


# Total variation distance to the truth, at most 1.
BOUND = {"toy_1d": 0.1, "toy_2d": 0.2}


def test_samples_match_the_truth(learned):
    workdir, _, _, numbers = learned
    assert numbers["kde_of_truth_tv"] < numbers["kde_tv"] < BOUND[workdir.name]


@pytest.mark.parametrize("dataset", BOUND)
def test_an_untrained_model_does_not_match_the_truth(dataset):
    settings = presets.load(dataset)
    toy = toys.get(dataset, settings.toy)
    numbers = toy_density.measure(
        toy_density.estimate(factory.build(settings), toy)
    )
    assert numbers["kde_tv"] > 2 * BOUND[dataset]


def test_the_ebm_is_far_colder_than_the_truth(learned):
    *_, numbers = learned
    # In nats: its mass sits in a space e times smaller, at least.
    assert numbers["ebm_entropy"] < numbers["truth_entropy"] - 1


def test_the_ebm_has_a_mode_at_each_of_the_truths(learned):
    _, toy, found, _ = learned
    modes = toy_density.modes(found.axis, found.log_ebm)
    for center in toy.centers:
        nearest = np.linalg.norm(modes - center, axis=1).min()
        assert nearest < 1.5 * toy.scales.max()


def test_a_run_leaves_the_figure_and_its_numbers(learned):
    workdir, *_, numbers = learned
    newest = max((workdir / "samples").glob("*.png"))
    written = json.loads(newest.with_suffix(".json").read_text())
    assert written["update"] == int(newest.stem)
    assert written["kde_tv"] == pytest.approx(numbers["kde_tv"], abs=1e-6)
    files = (workdir / "tensorboard").glob("events*")
    events = b"".join(file.read_bytes() for file in files)
    assert b"pictures/densities" in events and b"toy/kde_tv" in events

"""The guard in a `fit` of one's own: rolls back in place, resumes exactly."""

import dataclasses
import json

import numpy as np
import pytest
from helpers import random_images

import srmcmc_tf
from srmcmc_tf import callbacks, data
from srmcmc_tf.errors import UserError
from srmcmc_tf.models import divergence
from srmcmc_tf.runs import interventions
from srmcmc_tf.training.guard import rollback

IMAGES = random_images(32)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(rollback, "GOOD_AFTER", 4)


def diverge_at(batch):
    """The rule, which fires at its call of a number."""
    honest = divergence.observe

    def observe(state, logs):
        observe.calls += 1
        restless = divergence.PATIENCE if observe.calls == batch else 0
        state = honest(state, logs)
        return dataclasses.replace(state, restless=restless)

    observe.calls = 0
    return observe


def make():
    energy = srmcmc_tf.energies.convnet(8, channels=1, n_f=2)
    model = srmcmc_tf.ShortRunEBM(energy, K=2, seed=3)
    model.compile(model.adam(1e-3))
    model.keep_average(0.9)
    return model


def fit(directory, batches):
    """Fits, or resumes, until so many batches were used."""
    model = make()
    saves = callbacks.Checkpoints(directory, every=4)
    start = saves.restore(model)
    dataset = data.batches(IMAGES, batch_size=8, seed=3, start=start)
    model.fit(
        dataset.repeat().take(batches - start),
        verbose=0,
        callbacks=[
            callbacks.UpdateAverage(),
            callbacks.Guard(),
            callbacks.Log(directory),
            saves,
        ],
    )
    return model


def lines(directory, name):
    return [json.loads(line) for line in open(directory / name)]


@pytest.fixture
def whole(tmp_path, monkeypatch):
    monkeypatch.setattr(divergence, "observe", diverge_at(11))
    return fit(tmp_path / "whole", 18), tmp_path / "whole"


def test_a_fit_is_rolled_back_and_goes_on(whole):
    model, directory = whole
    (line,) = lines(directory, "interventions.jsonl")
    assert line["update"] == 11 and line["back_to"] == 4
    assert model.update == 18 - (11 - 4)
    assert model.seed == line["seed"] != 3
    logged = [row["update"] for row in lines(directory, "metrics.jsonl")]
    assert logged == list(range(1, 12))


def test_a_fit_resumes_exactly_after_a_rollback(whole, tmp_path, monkeypatch):
    model, _ = whole
    monkeypatch.setattr(divergence, "observe", diverge_at(11))
    fit(tmp_path / "parts", 15)
    again = fit(tmp_path / "parts", 18)
    assert again.update == model.update and again.seed == model.seed
    for a, b in zip(model.weights, again.weights, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(model.average.values, again.average.values, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_start_of_a_fit_is_kept_to_roll_back_to(tmp_path, monkeypatch):
    monkeypatch.setattr(divergence, "observe", diverge_at(2))
    model = fit(tmp_path, 3)
    assert model.update == 1
    (line,) = lines(tmp_path, "interventions.jsonl")
    assert line["back_to"] == 0 and line["sigma_least"] == 0


def test_too_many_rollbacks_end_the_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(divergence, "observe", diverge_at(2))
    monkeypatch.setattr(interventions, "MAXIMUM", 0)
    with pytest.raises(UserError, match="rolling back 0 times did not help"):
        fit(tmp_path, 3)


def test_checkpoints_of_ones_own_kind_are_not_overridden(tmp_path):
    saves = callbacks.Checkpoints(tmp_path, keep=lambda update: {update})
    with pytest.raises(ValueError, match="cannot have `keep` or `notes`"):
        callbacks.Guard().check_callbacks([saves])

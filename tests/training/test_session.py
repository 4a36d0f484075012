import dataclasses

import numpy as np
import pytest
from helpers import TINY, divergence_at, random_images, state

from srmcmc_tf.config import presets
from srmcmc_tf.distribution import strategies
from srmcmc_tf.models import factory
from srmcmc_tf.models.ema import UpdateAverage
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import session, train
from srmcmc_tf.training.callbacks.stop import StopOnNonFinite, StopOnSignal
from srmcmc_tf.training.guard.judge import Judge

CONFIG = dataclasses.replace(presets.load("digits"), **TINY)
NOTHING = session.Restored([], {})


def make(config):
    return session.Session(
        config, random_images(40), strategies.local("one"), StopOnSignal()
    )


def test_fit_makes_the_remaining_updates_and_no_more():
    config = dataclasses.replace(CONFIG, updates=3, ema=0.0)
    model = factory.build(config)
    model.optimizer.iterations.assign(1)
    branch = session.branch(make(config), NOTHING, model)
    for _ in range(2):  # the second time there are none left
        session.fit(make(config), model, branch, [])
        assert model.update == 3


def test_an_intervention_changes_the_seed_of_the_model_and_sigma():
    model = factory.build(CONFIG)
    past = [{"sigma_least": 0.5}]
    branch = session.branch(make(CONFIG), session.Restored(past, {}), model)
    assert model.seed == branch.seed != CONFIG.seed
    assert float(branch.sigma(10**6)) == 0.5


@pytest.mark.parametrize(
    "model, guard, kinds",
    [
        ("ebm", "on", [UpdateAverage, Judge]),
        ("ebm", "off", [UpdateAverage, StopOnNonFinite]),
        ("vae", "off", [StopOnNonFinite]),
    ],
)
def test_only_models_with_a_chain_are_guarded(model, guard, kinds):
    config = dataclasses.replace(presets.load("digits", model), guard=guard)
    found = session.guard(
        make(config), NOTHING, session.rollback.branch(config)
    )
    callbacks = session.first(config, found)
    assert [type(callback) for callback in callbacks] == kinds


def test_a_pyramid_resumes_and_rolls_back_in_the_same_bits(tmp_path):
    given = {**TINY, "updates": 20, "checkpoint_every": 3, "flip": "on"}
    given |= {"warm_up": 4, "ema": 0.9, "coarse_K": "3", "sample_every": 20}
    config = presets.load("digits", recipe="pyramid", given=given)
    with divergence_at(14):
        train.train(config, tmp_path / "whole")
        for updates in (5, 11, 20):
            part = dataclasses.replace(config, updates=updates)
            train.train(part, tmp_path / "parts")
    assert Run(tmp_path / "whole").interventions.up_to(20)
    first, second = state(tmp_path / "whole"), state(tmp_path / "parts")
    assert len(first) > 4 * 2 * (3 + 4)  # weights, averages, Adam's moments
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], name)


def test_the_model_adds_the_noise_of_each_stage_and_the_guard_raises_it():
    given = {**TINY, "coarse_K": "3", "coarse_sigma": "0.2", "sigma": 0.4}
    config = presets.load("digits", recipe="pyramid", given=given)
    model = factory.build(config)
    assert [float(s.sigma(0)) for s in model.stages] == pytest.approx(
        [0.2, 0.4]
    )
    restored = session.Restored([{"sigma_least": 0.3}], {})
    session.branch(make(config), restored, model)
    assert [float(s.sigma(0)) for s in model.stages] == pytest.approx(
        [0.3, 0.4]
    )

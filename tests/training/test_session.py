import dataclasses

import pytest
from helpers import TINY, random_images

from srmcmc_tf.config import presets
from srmcmc_tf.distribution import strategies
from srmcmc_tf.models import factory
from srmcmc_tf.models.ema import UpdateAverage
from srmcmc_tf.training import session
from srmcmc_tf.training.callbacks.stop import StopOnNonFinite, StopOnSignal
from srmcmc_tf.training.guard.judge import Judge

CONFIG = dataclasses.replace(presets.load("digits"), **TINY)
NOTHING = session.Restored([], {})


def make(config):
    return session.Session(
        config, random_images(40), strategies.local("one"), StopOnSignal()
    )


def test_fit_makes_the_remaining_updates_and_no_more():
    config = dataclasses.replace(CONFIG, updates=3)
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

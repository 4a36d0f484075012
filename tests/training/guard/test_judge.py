import numpy as np
import pytest
from helpers import fit_updates, random_images

from srmcmc_tf.data import pixels
from srmcmc_tf.models import divergence as rule
from srmcmc_tf.models.divergence import Divergence
from srmcmc_tf.models.schedules import Anneal, AutoSigma
from srmcmc_tf.training.guard.judge import Judge


def constant():
    return Anneal(0.1, after=0, half_life=0)


def test_a_value_that_is_not_finite_is_a_divergence(tiny_model):
    x = np.array(pixels.to_float(random_images(16)))
    x[8:] = np.nan
    with pytest.raises(Divergence, match="update 2: f_data is nan"):
        fit_updates(tiny_model, [Judge(constant(), every=5, last=9)], 1, x)


def test_weights_that_are_not_finite_diverge_before_they_are_saved(tiny_model):
    guard = Judge(constant(), every=2, last=9)
    guard.set_model(tiny_model)
    tiny_model.energy.weights[1].assign(tiny_model.energy.weights[1] * np.nan)
    logs = dict(f_difference=0.1, f_prime_norm=1.0, out_of_range=0.3)
    guard.on_update(1, logs)  # not saved after this one
    with pytest.raises(Divergence, match="not finite"):
        guard.on_update(2, logs)


def test_notes_resume_a_guard_exactly(tiny_model):
    auto = AutoSigma(learning_rate=0.1, least=0.01)
    guard = Judge(auto, every=100, last=999)
    guard.set_model(tiny_model)
    for update in range(1, 81):
        logs = dict(f_difference=update, f_prime_norm=1.0, out_of_range=0.3)
        guard.on_update(update, logs)
    notes = guard.notes()
    assert rule.State(**notes["guard"]) == guard.state
    again = AutoSigma(learning_rate=0.1, least=0.01, state=notes["sigma"])
    assert again.state() == auto.state()
    assert "sigma" not in Judge(constant(), every=1, last=1).notes()

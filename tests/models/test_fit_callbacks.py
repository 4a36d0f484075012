"""The order of callbacks, their partners, and the warning of divergence."""

import keras
import numpy as np
import pytest
from helpers import fit_updates

from srmcmc_tf import callbacks
from srmcmc_tf.models import divergence, fit_callbacks
from srmcmc_tf.models.baselines.vae import VAE


def refused(model, message, *given):
    with pytest.raises(ValueError, match=message) as error:
        fit_updates(model, list(given), n=1)
    assert "\n" not in str(error.value) and model.update == 0


def test_a_wrong_order_is_refused_before_the_first_update(tiny_model, tmp_path):
    saves, guard = callbacks.Checkpoints(tmp_path), callbacks.Guard()
    refused(tiny_model, "put Guard before Checkpoints", saves, guard)
    stop = callbacks.StopOnNonFinite()
    refused(tiny_model, "put StopOnNonFinite before Checkp", saves, stop)
    tiny_model.keep_average(0.9)
    average = callbacks.UpdateAverage()
    refused(tiny_model, "UpdateAverage before Checkpoints", saves, average)
    assert not list(tmp_path.iterdir())


def test_a_missing_partner_is_refused(tiny_model):
    refused(tiny_model, "Guard needs one Checkpoints", callbacks.Guard())
    average = callbacks.UpdateAverage()
    refused(tiny_model, r"UpdateAverage needs model.keep_average", average)
    tiny_model.keep_average(0.9)
    refused(tiny_model, "put UpdateAverage first")


def test_other_callbacks_may_be_anywhere(tiny_model, tmp_path):
    seen = []
    own = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: seen.append(logs)
    )
    fit_updates(tiny_model, [own, callbacks.Checkpoints(tmp_path), own], n=1)
    assert len(seen) == 2


def quantities(gap):
    return {"f_difference": gap, "f_prime_norm": gap, "out_of_range": 0.3}


def watch(model, rows):
    warning = model.warning
    warning.set_model(model)
    warning.on_train_begin()
    for row in rows:
        model.optimizer.iterations.assign_add(1)
        warning.on_train_batch_end(0, row)
    return warning


def test_divergence_is_reported_once_with_the_remedy(tiny_model, caplog):
    rows = [quantities(1.0)] * 80 + [quantities(2.0**i) for i in range(40)]
    watch(tiny_model, rows)
    (record,) = caplog.records
    text = record.getMessage()
    assert record.levelname == "WARNING" and "\n" not in text
    assert "the training diverges" in text and "a larger sigma or K" in text


def test_what_is_not_finite_is_reported(tiny_model, caplog):
    watch(tiny_model, [quantities(np.nan)])
    assert "f_difference is nan" in caplog.text


def test_one_fit_continues_where_the_other_ended(tiny_model, caplog):
    for i in range(12):  # none is long enough to judge by itself
        gap = 2.0 ** (10 * max(0, i - 8))
        watch(tiny_model, [quantities(gap)] * 10)
    assert "the training diverges" in caplog.text
    assert divergence.SETTLING > 10


def test_a_restored_model_is_judged_anew(tiny_model):
    seen = watch(tiny_model, [quantities(1.0)] * 3).state.seen
    tiny_model.optimizer.iterations.assign(0)
    assert seen == 3 and watch(tiny_model, []).state.seen == 0


def test_fit_watches_without_any_callback(tiny_model, monkeypatch, caplog):
    monkeypatch.setattr(divergence, "SETTLING", 1)
    monkeypatch.setattr(divergence, "PATIENCE", 2)
    monkeypatch.setattr(divergence, "LIMIT", -1.0)
    fit_updates(tiny_model, None, n=4)
    assert "the training diverges" in caplog.text


def test_a_guard_and_models_without_a_chain_are_not_warned_of(
    tiny_model, tmp_path
):
    guarded = [callbacks.Guard(), callbacks.Checkpoints(tmp_path)]
    assert fit_callbacks.arrange(tiny_model, guarded) == guarded
    vae = VAE(8, 1, n_f=4)
    vae.compile(vae.adam(1e-3))
    fit_updates(vae, [], n=1)
    assert vae.warning.state.seen == 0

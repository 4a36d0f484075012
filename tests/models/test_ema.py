import dataclasses

import numpy as np
import pytest
import tensorflow as tf
from helpers import TINY, assert_same_run, random_images

from srmcmc_tf.config import presets
from srmcmc_tf.data import pixels
from srmcmc_tf.models import ema, factory
from srmcmc_tf.runs import checkpoints
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import train


def weights(model):
    return [w.numpy() for w in model.weights]


def fit(model, n=1):
    x = pixels.to_float(random_images(8))
    calls = [ema.UpdateAverage()] if model.average else []
    model.fit(
        x, epochs=n, batch_size=8, shuffle=False, verbose=0, callbacks=calls
    )


@pytest.fixture
def model(tiny_model):
    tiny_model.keep_average(0.7)
    return tiny_model


def test_the_average_follows_the_weights(model):
    expected = weights(model)
    for t in range(1, 6):
        fit(model)
        decay = min(0.7, (1 + t) / (10 + t))
        expected = [
            decay * e + (1 - decay) * w
            for e, w in zip(expected, weights(model), strict=True)
        ]
    for value, e in zip(model.average.values, expected, strict=True):
        np.testing.assert_allclose(value, e, rtol=1e-4, atol=1e-6)


def test_the_averaged_weights_are_used_and_given_back(model):
    fit(model, 3)
    own, x = weights(model), model.sample([1, 2])
    with model.averaged():
        inside = model.sample([1, 2])
        for w, a in zip(model.weights, model.average.values, strict=True):
            np.testing.assert_array_equal(w, a)
    assert not np.array_equal(inside, x)
    np.testing.assert_array_equal(model.sample([1, 2]), x)
    for a, b in zip(own, weights(model), strict=True):
        np.testing.assert_array_equal(a, b)


def test_training_does_not_see_the_average(tmp_path):
    tiny = dataclasses.replace(presets.load("digits"), **TINY)
    models = []
    for decay in (0.9, 0.0):
        workdir = tmp_path / str(decay)
        train.train(dataclasses.replace(tiny, ema=decay), workdir)
        model = factory.build(dataclasses.replace(tiny, ema=decay))
        checkpoints.restore(
            checkpoints.Checkpoints(workdir / "checkpoints").latest(), model
        )
        models.append(model)
    for name in ("energy", "optimizer"):
        a, b = (getattr(model, name).variables for model in models)
        for one, other in zip(a, b, strict=True):
            np.testing.assert_array_equal(one, other)
    with models[1].averaged():  # one without it is left as it is
        assert models[1].average is None


def test_checkpoints_hold_the_average(model, tmp_path):
    fit(model, 2)
    path = checkpoints.Checkpoints(tmp_path).save(model).path
    kept = [v.numpy() for v in model.average.values]
    fit(model, 2)
    assert checkpoints.restore(path, model) == 2
    for value, before in zip(model.average.values, kept, strict=True):
        np.testing.assert_array_equal(value, before)


def test_checkpoints_of_before_there_was_an_average_are_read(
    tiny_model, tmp_path
):
    fit(tiny_model, 2)
    old = tf.train.Checkpoint(**tiny_model.checkpoint_items())
    old.write(str(tmp_path / "state"))
    own = weights(tiny_model)
    fit(tiny_model)
    assert checkpoints.restore(tmp_path, tiny_model) == 2
    assert checkpoints.notes(tmp_path) is None
    for a, b in zip(own, weights(tiny_model), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_run_with_an_average_resumes_exactly_and_is_loaded_with_it(tmp_path):
    settings = dataclasses.replace(presets.load("digits"), **TINY, ema=0.9)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train.train(settings, whole)
    train.train(dataclasses.replace(settings, updates=7), parts)
    (parts / "samples" / "000007.png").unlink()
    train.train(settings, parts)
    assert_same_run(whole, parts)

    model = Run(whole).load_model()
    raw = factory.build(settings)
    checkpoints.Checkpoints(whole / "checkpoints").restore_newest(raw)
    for w, v in zip(weights(model), raw.average.values, strict=True):
        np.testing.assert_array_equal(w, v)
    assert not np.array_equal(weights(raw)[0], weights(model)[0])

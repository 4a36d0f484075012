"""Samples of many seeds, from given starts, with other settings."""

import numpy as np
import pytest
from helpers import random_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.models import drawing


@pytest.fixture(scope="module")
def model():
    energy = srmcmc_tf.energies.convnet(8, channels=1, n_f=4)
    model = srmcmc_tf.ShortRunEBM(energy, K=3)
    for weight in model.weights:
        weight.assign(2.0 * weight)  # so that chains move
    return model


def test_batches_change_no_bits(model, monkeypatch):
    whole = model.sample(range(11))
    monkeypatch.setattr(drawing, "BATCH", 4)
    np.testing.assert_array_equal(model.sample(range(11)), whole)
    start = model.start(range(11))
    found = model.sample(range(11), start=start)
    np.testing.assert_array_equal(found, whole)


def test_a_start_of_ones_own_is_where_the_chain_starts(model):
    images = random_images(3)
    x = pixels.to_float(images)
    for start in (images, x, x.numpy()):
        np.testing.assert_allclose(model.sample(start=start, K=0), x)
        np.testing.assert_array_equal(
            model.sample(start=start), model.sample(range(3), start=x)
        )
    moved = model.sample(start=x) - x
    assert 0 < np.abs(moved).max() < np.abs(model.sample(range(3)) - x).max()


def test_another_step_size_is_that_of_another_model(model):
    other = srmcmc_tf.ShortRunEBM(model.energy, K=3, step_size=0.3)
    for _ in range(2):
        found = model.sample([4, 5], step_size=0.3)
        np.testing.assert_array_equal(found, other.sample([4, 5]))
    steps = [0, 2]
    np.testing.assert_array_equal(
        model.trace([4], steps, step_size=0.3), other.trace([4], steps)
    )


def test_the_progress_bar_can_be_switched_off(model, monkeypatch, capsys):
    monkeypatch.setattr(drawing, "BATCH", 4)
    model.sample(range(9), verbose=0)
    assert not capsys.readouterr().err
    model.sample(range(9), verbose=1)
    assert "samples" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given, message",
    [
        ({}, "give seeds="),
        (
            {"start": np.zeros([2, 8, 8])},
            r"start must have shape \[n, 8, 8, 1\], not",
        ),
        ({"seeds": [1], "start": np.zeros([2, 8, 8, 1])}, "1 .*, but 2"),
        ({"seeds": [1], "verbose": "loud"}, "verbose='loud': must be"),
    ],
)
def test_mistakes_are_one_line(model, given, message):
    with pytest.raises(ValueError, match=message) as error:
        model.sample(**given)
    assert "\n" not in str(error.value)

import dataclasses

import numpy as np
import pytest
from helpers import TINY

from srmcmc_tf.config import presets
from srmcmc_tf.models import factory


def settings(dataset="digits", **changes):
    return dataclasses.replace(presets.load(dataset), **{**TINY, **changes})


def test_the_settings_reach_the_model():
    model = factory.build(settings(K=7, noise=0.3, seed=9, jit_compile="true"))
    assert (model.K, model.noise, model.seed) == (7, 0.3, 9)
    assert model.get_compile_config()["jit_compile"] is True
    assert model.image_shape == (8, 8, 1) and model.update == 0


def test_the_learning_rate_is_annealed():
    model = factory.build(
        settings(learning_rate=0.4, anneal_after=4, learning_rate_half_life=4)
    )
    model.optimizer.iterations.assign(8)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.2)


def test_a_seed_names_the_initial_weights():
    a, b, c = (factory.build(settings(seed=s)).weights[0] for s in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.parametrize("dataset, d", [("toy_1d", 1), ("toy_2d", 2)])
def test_a_model_of_points_has_their_dimension(dataset, d):
    model = factory.build(settings(dataset))
    assert model.image_shape == (d,)


@pytest.mark.parametrize("ema", [0.0, 0.9])
def test_an_average_is_kept_where_asked_for(ema):
    average = factory.build(settings(ema=ema)).average
    assert (average is not None) == bool(ema)

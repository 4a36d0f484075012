import keras
import numpy as np
import pytest
import tensorflow as tf

import srmcmc_tf
from srmcmc_tf.models import energies, schedules
from srmcmc_tf.sampling import chain, rng


def stage(**settings):
    return srmcmc_tf.Stage(energies.convnet(8, 1, n_f=2), **settings)


def test_config_round_trip():
    sigma = schedules.Anneal(0.1, after=5, half_life=5)
    one = stage(
        K=7,
        step_size=0.5,
        noise=0.1,
        noise_end=0.0,
        start_noise=0.2,
        sigma=sigma,
    )
    again = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(one)
    )
    assert again.get_config() == one.get_config()
    assert (again.K, again.step_size, again.noise) == (7, 0.5, 0.1)
    assert float(again.sigma(10)) == pytest.approx(0.05)


def test_a_list_of_one_stage_is_the_model_of_its_energy():
    one = stage(K=3)
    models = [
        srmcmc_tf.ShortRunEBM([one], seed=2, name="m"),
        srmcmc_tf.ShortRunEBM(one.energy, K=3, seed=2, name="m"),
    ]
    np.testing.assert_array_equal(*[m.sample([1, 2]) for m in models])
    assert models[0].get_config() == models[1].get_config()


def test_settings_of_a_stage_are_not_those_of_the_model():
    with pytest.raises(ValueError, match="K: these are settings of a Stage"):
        srmcmc_tf.ShortRunEBM([stage()], K=3)


def test_noise_falls_linearly_along_the_chain_and_stays_low():
    decaying = stage(K=5, noise=0.4, noise_end=0.0)
    _, noise, _ = decaying.settings()
    found = [float(chain.noise_at(noise, k)) for k in range(7)]
    np.testing.assert_allclose(found, [0.4, 0.3, 0.2, 0.1, 0, 0, 0], atol=1e-7)
    z = rng.stream(1).uniform([2, *decaying.image_shape])
    ends = [
        one.run(z, rng.stream(1)).x
        for one in (decaying, stage(K=5, noise=0.4), stage(K=5, noise=0.0))
    ]
    spread = [np.abs(x - ends[2]).mean() for x in ends]
    assert 0 < spread[0] < spread[1]


def test_a_stage_begins_at_the_enlarged_end_plus_noise():
    one = stage(start_noise=0.25)
    z = rng.stream(3).uniform([2, *one.image_shape])
    assert one.begin(z, None) is z
    before = tf.ones([2, 4, 4, 1])
    np.testing.assert_allclose(one.begin(z, before), 1 + 0.25 * z)
    np.testing.assert_array_equal(
        one.begin(z, before, False), tf.ones([2, 8, 8, 1])
    )


def test_data_get_the_noise_of_the_stage_at_its_size():
    x = tf.zeros([64, 16, 16, 1])
    stream = rng.stream(0)
    assert np.abs(stage().data(x, stream, 0)).max() == 0
    noisy = stage(sigma=0.3).data(x, stream, 0)
    assert noisy.shape == (64, 8, 8, 1)
    assert np.std(noisy) == pytest.approx(0.3, rel=0.05)
    later = stage(sigma=schedules.Anneal(0.3, after=0, half_life=10))
    np.testing.assert_allclose(later.data(x, stream, 10), noisy / 2, atol=1e-6)

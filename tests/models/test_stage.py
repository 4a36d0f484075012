import keras
import numpy as np
import pytest

import srmcmc_tf
from srmcmc_tf.models import energies


def stage(**settings):
    return srmcmc_tf.Stage(energies.convnet(8, 1, n_f=2), **settings)


def test_config_round_trip():
    one = stage(K=7, step_size=0.5, noise=0.1)
    again = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(one)
    )
    assert again.get_config() == one.get_config()
    assert (again.K, again.step_size, again.noise) == (7, 0.5, 0.1)


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

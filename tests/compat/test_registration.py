import keras

import srmcmc_tf
from srmcmc_tf.compat import registration
from srmcmc_tf.models import factory as factory  # imports all models


def test_a_stand_in_makes_the_real_object(tiny_model):
    stand_in = registration._StandIn("ShortRunEBM")
    again = stand_in.from_config(tiny_model.get_config())
    assert type(again) is srmcmc_tf.ShortRunEBM


def test_every_model_that_keras_can_save_is_named():
    table = keras.saving.get_custom_objects()
    ours = {
        name.removeprefix("srmcmc_tf>")
        for name, found in table.items()
        if name.startswith("srmcmc_tf>")
        and getattr(found, "__module__", "").startswith("srmcmc_tf.models")
    }
    assert ours <= set(registration.HOMES)


def test_other_imports_are_left_alone():
    finder = registration._WhenKerasIsImported()
    assert finder.find_spec("json", None) is None

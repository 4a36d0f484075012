import keras
import pytest

from srmcmc_tf.schedule import Anneal


@pytest.mark.parametrize(
    "update, value", [(0, 0.4), (100, 0.4), (150, 0.2), (200, 0.1)]
)
def test_constant_then_halved(update, value):
    anneal = Anneal(0.4, after=100, half_life=50)
    assert float(anneal(update)) == pytest.approx(value)


def test_zero_half_life_keeps_the_value():
    assert float(Anneal(0.4, after=0, half_life=0)(10**6)) == pytest.approx(0.4)


def test_an_optimizer_with_it_survives_serialisation():
    adam = keras.optimizers.Adam(Anneal(0.4, after=100, half_life=50))
    again = keras.optimizers.deserialize(keras.optimizers.serialize(adam))
    again.iterations.assign(150)
    assert float(again.learning_rate) == pytest.approx(0.2)

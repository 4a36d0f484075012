import json

import keras
import pytest
import tensorflow as tf

from srmcmc_tf.models import schedules
from srmcmc_tf.models.schedules import Anneal, AutoSigma


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


@pytest.mark.parametrize("half_life", [0, 10])
def test_a_least_value_is_kept(half_life):
    anneal = Anneal(0.4, after=0, half_life=half_life, least=0.5)
    assert float(anneal(100)) == pytest.approx(0.5)
    assert Anneal.from_config(anneal.get_config())(100) == anneal(100)


def follow(sigma, unrests):
    """The sigma of each update, where each of its windows has one unrest."""
    levels = []
    for window, unrest in enumerate(unrests):
        for i in range(sigma.WINDOW):
            update = window * sigma.WINDOW + i
            levels.append(float(sigma(update)))
            sigma.observe(update + 1, unrest)
    return levels[:: sigma.WINDOW]


def test_sigma_falls_in_calm_and_halves_in_a_time_of_the_learning_rate():
    levels = follow(AutoSigma(learning_rate=2.5e-4, least=0.0), [0.0] * 23)
    assert levels[0] == levels[1] == pytest.approx(AutoSigma.START)
    assert all(b < a for a, b in zip(levels[1:], levels[2:], strict=False))
    assert levels[21] == pytest.approx(AutoSigma.START / 2)


def test_sigma_stays_or_goes_back_up_where_there_is_unrest():
    unrests = [0.0] * 5 + [2.5] + [0.0] + [4.0] + [0.0] * 3
    a = follow(AutoSigma(learning_rate=1e-3, least=0.0), unrests)
    assert a[6] < a[5]
    assert a[7] == a[6]  # two windows after the unrest
    assert a[8] < a[7]
    assert a[9] == pytest.approx(1.1 * a[8])


def test_sigma_never_falls_below_the_least():
    levels = follow(AutoSigma(learning_rate=1e-2, least=0.1), [0.0] * 20)
    assert levels[-1] == pytest.approx(0.1) == min(levels)


def test_a_resumed_sigma_schedule_is_the_same():
    whole = AutoSigma(learning_rate=1e-3, least=0.0)
    parts = AutoSigma(learning_rate=1e-3, least=0.0)
    for update in range(1, 400):
        unrest = 4.0 if update // 50 == 3 else 0.5
        whole.observe(update, unrest)
        parts.observe(update, unrest)
        state = json.loads(json.dumps(parts.state()))
        parts = AutoSigma(learning_rate=1e-3, least=0.0, state=state)
        assert float(parts(update)) == float(whole(update))


def test_annealing_does_not_react():
    anneal = Anneal(0.4, after=100, half_life=50)
    anneal.observe(50, 10.0)
    assert anneal.state() is None
    assert float(anneal(50)) == pytest.approx(0.4)


def test_at_least_raises_what_is_smaller():
    assert schedules.at_least(0.1, 0.3) == 0.3
    assert schedules.at_least(0.4, 0.3) == 0.4
    falling = schedules.Anneal(0.4, after=0, half_life=10)
    raised = schedules.at_least(falling, 0.3)
    assert [float(raised(t)) for t in (0, 10)] == pytest.approx([0.4, 0.3])
    other = schedules.at_least(lambda t: tf.constant(0.1), 0.3)
    assert float(other(0)) == pytest.approx(0.3)


def test_the_warm_up_is_linear_and_ends():
    rate = schedules.Anneal(0.8, after=100, half_life=10, warm_up=4)
    found = [float(rate(t)) for t in (0, 1, 3, 4, 110)]
    assert found == pytest.approx([0.2, 0.4, 0.8, 0.8, 0.4])
    again = schedules.Anneal.from_config(rate.get_config())
    assert float(again(0)) == pytest.approx(0.2)

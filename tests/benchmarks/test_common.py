import math

import pytest

from srmcmc_tf.benchmarks import common


def test_ratios_are_taken_round_by_round():
    timings = common.Timings([[1.0, 10.0, 2.0], [2.0, 10.0, 6.0]])
    assert timings.seconds == [2.0, 6.0]
    assert timings.over_first == [1.0, 2.0]  # not 6 / 2


def test_sides_take_turns_after_a_first_call_of_each():
    calls = []

    def side(name, seconds):
        def run(n):
            calls.append((name, n))
            return seconds

        return run

    timings = common.interleave(2, 4, side("a", 2.0), side("b", 6.0))
    assert calls == [("a", 4), ("b", 4)] * 3
    assert timings.seconds == [0.5, 1.5] and timings.over_first == [1.0, 3.0]


def test_a_side_that_returns_nothing_is_timed():
    timings = common.interleave(1, 1, lambda n: None)
    assert timings.seconds[0] > 0.0


def test_a_function_is_called_in_a_process_of_its_own():
    assert common.in_new_process(math.pow, 2, 3) == 8.0


def test_a_table_has_as_many_rules_as_heads():
    lines = "\n".join(common.table("K | s", [["1", "2.0"], ["3", "4.0"]]))
    assert lines == "| K | s |\n|---|---|\n| 1 | 2.0 |\n| 3 | 4.0 |"


@pytest.mark.parametrize("size, channels", [(8, 1), (16, 3)])
def test_the_model_is_ready_to_train(size, channels):
    model = common.model(size, channels, 4, 2)
    assert model.image_shape == (size, size, channels) and model.K == 2
    assert model.optimizer is not None

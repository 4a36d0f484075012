import json

import numpy as np
import pytest

from srmcmc_tf.models import divergence as rule

NAMES = ("f_difference", "f_prime_norm", "out_of_range")


def calm(n, seed=0):
    """Quantities about as noisy as those of a calm run, [n] dictionaries."""
    noise = np.random.default_rng(seed).normal(size=(n, 3))
    noise[:, 1:] *= [0.03, 0.2]
    return [
        {"f_difference": g * 0.2, "f_prime_norm": np.exp(p), "out_of_range": o}
        for g, p, o in zip(
            noise[:, 0], noise[:, 1], 0.3 * np.exp(noise[:, 2]), strict=True
        )
    ]


def diverging(n, names=NAMES):
    """Calm for n updates, then named quantities grow by 10% an update."""
    rows = calm(n + 100)
    for i, row in enumerate(rows[n:]):
        for name in names:
            row[name] *= 1.1**i
        row["out_of_range"] = min(row["out_of_range"], 1.0)
    return rows


def first_divergence(rows):
    state = rule.State()
    for update, row in enumerate(rows, 1):
        state = rule.observe(state, row)
        if state.diverged:
            return update
    return None


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_no_divergence(seed):
    assert first_divergence(calm(4000, seed)) is None


def test_divergence_is_seen_while_the_numbers_are_small():
    rows = diverging(300)
    update = first_divergence(rows)
    assert 300 < update < 350
    assert abs(rows[update]["f_difference"]) < 100


def test_divergence_is_seen_right_after_the_settling():
    assert first_divergence(diverging(rule.SETTLING + 30)) is not None


@pytest.mark.parametrize("name", NAMES)
def test_one_quantity_alone_does_not_alarm(name):
    assert first_divergence(diverging(300, [name])) is None


def test_what_changes_slowly_is_no_divergence():
    rows = calm(3000)
    for i, row in enumerate(rows):
        row["f_prime_norm"] *= 2.0 ** (i / 1000)
        row["f_difference"] *= 4.0 ** (i / 1000)
    assert first_divergence(rows) is None


def test_a_few_wild_updates_are_no_divergence():
    rows = calm(400)
    for row in rows[300:303]:
        for name in NAMES:
            row[name] *= 3
    assert first_divergence(rows) is None


def test_a_state_from_json_judges_the_same():
    rows = diverging(300)
    whole = stored = rule.State()
    for row in rows:
        whole = rule.observe(whole, row)
        stored = rule.observe(stored, row)
        stored = rule.State(**json.loads(json.dumps(stored.to_dict())))
        assert stored.unrest == whole.unrest
        assert stored.diverged == whole.diverged


def lost(n):
    """Quantities of a training that has diverged already."""
    return [
        {"f_difference": 4e3, "f_prime_norm": 50.0, "out_of_range": 1.0}
    ] * n


def test_a_slow_divergence_is_seen_while_the_gap_is_below_thousands():
    rows = calm(300)
    for i, row in enumerate(calm(400, seed=1)):
        row["f_difference"] = 0.3 * 1.03**i
        row["f_prime_norm"] *= 1.01**i
        rows.append(row)
    update = first_divergence(rows)
    assert update and rows[update - 1]["f_difference"] < 1_000


def test_a_training_that_diverged_before_it_is_judged_is_seen():
    assert first_divergence(lost(100)) is not None
    assert first_divergence(calm(20) + lost(100)) is not None


@pytest.mark.parametrize(
    "change", [{"f_difference": 5.0}, {"out_of_range": 0.6}]
)
def test_neither_a_gap_nor_the_range_alone_is_lost(change):
    assert first_divergence([row | change for row in lost(300)]) is None


def test_what_is_not_finite_is_named():
    assert rule.not_finite({"a": 1.0, "b": 2.0}) is None
    assert rule.not_finite({"a": 1.0, "b": float("nan")}) == "b is nan"

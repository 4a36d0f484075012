"""The rule of divergence: when does a training diverge?

Three quantities of an update are watched: the gap between f on data and on
samples, the norm of f' along the chain, and the share of sample pixels out of
range. In a run that diverges they rise together, long before anything is
infinite. For each:

1. level = log(mean of |value| over the last updates; half-life `FAST`);
2. usual = running mean and mean absolute deviation of the level (half-life
   `SLOW`), where a level further than 3 deviations away counts as 3: so
   divergence does not quickly become the usual;
3. score = (level - usual mean) / (usual deviation + `LEAST_DEVIATION`).

The *unrest* is the second largest of the three scores: one noisy quantity
alone does not alarm. A training diverges where the unrest was above `LIMIT`
for `PATIENCE` consecutive updates, or where a quantity is not finite. The first
`SETTLING` updates, in which a new network finds its scale, are not judged.

A slow divergence becomes the usual, and one from before the first update seen
is the usual. So the training also diverges where for as many updates the mean
of the gap was above `GAP`, which is far beyond that of a training that works,
and either the unrest above half of `LIMIT` or the mean share of pixels out of
range above `OUT`.

The state is a function of the quantities seen, small, and kept in checkpoints:
a run that resumes judges as if it had never stopped.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

FAST, SLOW = 8, 200
LEAST_DEVIATION = 0.1
LIMIT = 5.0
PATIENCE = 10
SETTLING = 50
OUT, GAP = 0.95, 100.0

# Added before the logarithm: what is too small to matter.
_NOTHING = {"f_difference": 1e-6, "f_prime_norm": 1e-6, "out_of_range": 0.01}
NAMES = tuple(_NOTHING)  # of the quantities


class Divergence(Exception):
    """A training that has to be rolled back.

    Attributes:
        update: the update after which it was seen.
        reason: what was seen, in words.
    """

    def __init__(self, update: int, reason: str) -> None:
        super().__init__(f"update {update:,}: {reason}")
        self.update = update
        self.reason = reason


@dataclasses.dataclass(frozen=True)
class State:
    """What the guard remembers; it survives JSON exactly (`to_dict`).

    Attributes:
        seen: updates seen.
        values: name to (mean of |value|, usual mean, usual deviation).
        unrest: of the newest update.
        restless: for how many consecutive updates the unrest was too high.
    """

    seen: int = 0
    values: Mapping[str, Sequence[float]] = dataclasses.field(
        default_factory=dict
    )
    unrest: float = 0.0
    restless: int = 0

    @property
    def diverged(self) -> bool:
        return self.restless >= PATIENCE

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def observe(state: State, logs: Mapping[str, float]) -> State:
    """The state after one more update.

    Args:
        state: a `State`.
        logs: name to finite float of the update's quantities; those of the
            rule must be among them.

    Returns:
        A `State`.

    Examples:

    >>> calm = dict(f_difference=0.1, f_prime_norm=1.0, out_of_range=0.3)
    >>> wild = dict(f_difference=1e3, f_prime_norm=1e2, out_of_range=0.9)
    >>> state = State()
    >>> for logs in 100 * [calm] + 9 * [wild]:
    ...     state = observe(state, logs)
    >>> state.diverged, observe(state, wild).diverged
    (False, True)
    """
    seen = state.seen + 1
    values, scores = {}, []
    for name, nothing in _NOTHING.items():
        old = state.values.get(name, (0.0, 0.0, 0.0))
        values[name], score = _follow(old, abs(logs[name]), seen, nothing)
        scores.append(score)
    unrest = sorted(scores)[1]
    outside = values["out_of_range"][0] > OUT and seen > SETTLING
    limit = LIMIT / 2 if values["f_difference"][0] > GAP else LIMIT
    alarmed = unrest > limit or (outside and limit < LIMIT)
    restless = state.restless + 1 if alarmed else 0
    return State(seen, values, unrest, restless)


def describe(state: State, logs: Mapping[str, float]) -> str:
    """The state after an update, in words."""
    values = ", ".join(f"{name} {logs[name]:.3g}" for name in state.values)
    return f"unrest {state.unrest:.1f} ({values})"


def not_finite(logs: Mapping[str, float]) -> str | None:
    """What is infinite or NaN among the quantities, in words, or None."""
    for name, value in logs.items():
        if not math.isfinite(value):
            return f"{name} is {value}"
    return None


def _follow(
    old: Sequence[float], value: float, seen: int, nothing: float
) -> tuple[tuple[float, float, float], float]:
    """The three running values of a quantity, and its score."""
    size, mean, deviation = old
    size += _rate(FAST, seen) * (value - size)
    level = math.log(size + nothing)
    if seen <= SETTLING:
        return (size, level, LEAST_DEVIATION), 0.0
    width = deviation + LEAST_DEVIATION
    away = level - mean
    cut = max(-3.0 * width, min(3.0 * width, away))
    rate = _rate(SLOW, seen)
    mean += rate * cut
    deviation += rate * (abs(cut) - deviation)
    return (size, mean, deviation), away / width


def _rate(half_life: int, seen: int) -> float:
    """The weight of the newest value; at first, that of a plain mean."""
    return max(1.0 - 0.5 ** (1.0 / half_life), 1.0 / seen)

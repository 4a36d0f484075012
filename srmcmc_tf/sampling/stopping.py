"""Stopping times: each chain stops when its own state says so.

A chain stops before step k if its rule holds for f and f' at x_k, at the
latest after K steps. The rule is a function of x_k alone, so a chain that is
continued from where it stopped stays there.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from srmcmc_tf.sampling.kernels import Step
from srmcmc_tf.sampling.rng import AnyStream, StreamPerRow

RULES = ("K", "slope", "level")
Move = Callable[..., Step]
Holds = Callable[[Step], tf.Tensor]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stop:
    """When a chain stops; the default is the paper's: after K steps.

    Args:
        rule: "K"; "slope": as soon as the norm of f' is below `below`; or
            "level": as soon as f is at least the running mean of f on data.
        below: of "slope". At 0 no chain stops before step K.

    Examples:

    >>> Stop(rule="slope", below=0.5)
    Stop(rule='slope', below=0.5)
    """

    rule: str = "K"
    below: float = 0.0

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            rules = ", ".join(RULES)
            raise ValueError(f"stop={self.rule!r}: must be one of {rules}")
        if self.below < 0:
            raise ValueError(f"below={self.below}: must be positive, or 0")
        if self.below and self.rule != "slope":
            raise ValueError(f"below={self.below}: only for rule='slope'")

    def holds(self, level: Any) -> Holds | None:
        """The rule as a function of a `Step` to bool [n]; None for "K".

        Args:
            level: float scalar, the running mean of f on data.
        """
        return {
            "K": None,
            "slope": lambda step: step.f_prime_norm < self.below,
            "level": lambda step: step.f >= level,
        }[self.rule]


class Stopped(NamedTuple):
    """The result of chains with stopping times.

    Attributes:
        x: where they stopped, [n, ...].
        steps: how many steps each made, int32 [n].
        tried: how many steps were computed for each, int32 [n]: one more
            where the rule held before step K.
        f_prime_norm: mean norm of f' over all these steps, a scalar.
        accepted: share of the steps made that were accepted, a scalar.
    """

    x: tf.Tensor
    steps: tf.Tensor
    tried: tf.Tensor
    f_prime_norm: tf.Tensor
    accepted: tf.Tensor


def masked(
    move: Move, x: tf.Tensor, stream: AnyStream, holds: Holds, ks: tf.Tensor
) -> Stopped:
    """Runs all chains together until the last one stops.

    Args:
        move: (x, stream, k) to a `Step`; of `compacted`, also the rows that
            these chains are of the batch.
        x: starts, [n, ...].
        stream: of the batch.
        holds: a `Step` to bool [n], True where a chain stops.
        ks: numbers of the steps, int32 [K].
    """
    n = tf.shape(x)[0]
    alive = tf.fill([n], True)
    steps, tried = tf.zeros([n], tf.int32), tf.zeros([n], tf.int32)
    norm = accepted = tf.zeros([])
    for k in ks:
        made = move(x, stream, k)
        tried += tf.cast(alive, tf.int32)
        norm += tf.reduce_sum(tf.where(alive, made.f_prime_norm, 0.0))
        alive = alive & ~holds(made)
        x = tf.where(alive[(..., *[None] * (x.shape.rank - 1))], made.x, x)
        steps += tf.cast(alive, tf.int32)
        accepted += tf.reduce_sum(tf.where(alive, made.accepted, 0.0))
        if not tf.reduce_any(alive):
            break
    return _stopped(x, steps, tried, norm, accepted)


def compacted(
    move: Move, x: tf.Tensor, stream: StreamPerRow, holds: Holds, ks: tf.Tensor
) -> Stopped:
    """As `masked`, but chains that stopped leave the batch and cost nothing.

    Not for XLA, which knows no batch of a size that changes.
    """
    n = tf.shape(x)[0]
    rows = tf.range(n)
    steps, tried = tf.zeros([n], tf.int32), tf.zeros([n], tf.int32)
    norm = accepted = tf.zeros([])
    for k in ks:
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(rows, tf.TensorShape([None]))]
        )
        some = tf.gather(x, rows)
        made = move(some, stream.take(rows), k, rows)
        tried = tf.tensor_scatter_nd_add(
            tried, rows[:, None], tf.ones_like(rows)
        )
        norm += tf.reduce_sum(made.f_prime_norm)
        alive = ~holds(made)
        rows = tf.boolean_mask(rows, alive)
        x = tf.tensor_scatter_nd_update(
            x, rows[:, None], tf.boolean_mask(made.x, alive)
        )
        steps = tf.tensor_scatter_nd_add(
            steps, rows[:, None], tf.ones_like(rows)
        )
        accepted += tf.reduce_sum(tf.boolean_mask(made.accepted, alive))
        if tf.size(rows) == 0:
            break
    return _stopped(x, steps, tried, norm, accepted)


def _stopped(
    x: tf.Tensor,
    steps: tf.Tensor,
    tried: tf.Tensor,
    norm: tf.Tensor,
    accepted: tf.Tensor,
) -> Stopped:
    all_tried = tf.cast(tf.maximum(tf.reduce_sum(tried), 1), tf.float32)
    all_made = tf.cast(tf.maximum(tf.reduce_sum(steps), 1), tf.float32)
    return Stopped(x, steps, tried, norm / all_tried, accepted / all_made)

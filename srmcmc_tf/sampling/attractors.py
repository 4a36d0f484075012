"""Attractors: where chains without noise come to rest, as in a Hopfield net."""

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from srmcmc_tf.sampling import kernels
from srmcmc_tf.sampling.kernels import Energy

SAME = 0.05


class Rest(NamedTuple):
    """The ends of chains that ran to rest.

    Attributes:
        x: the ends, [n, ...], in [-1, 1].
        f: f there, [n].
        steps: accepted steps, int32 [n].
        at_rest: False where a chain still moved after the last step, [n].
    """

    x: tf.Tensor
    f: tf.Tensor
    steps: tf.Tensor
    at_rest: tf.Tensor


def run_to_rest(
    f: Energy,
    x: tf.Tensor,
    *,
    step_size: float = 1.0,
    steps: Any = 2_000,
    tolerance: float = 1e-3,
) -> Rest:
    """Ascends f from `x` within [-1, 1] until no step is an ascent.

    A step is that of a chain without noise, clamped to [-1, 1], where f is
    unbounded in general. A chain whose step would not raise f stays and halves
    its step size, so that it comes to rest also at the edges of a network that
    is piecewise linear, around which a constant step would oscillate.

    Call it inside a `tf.function`.

    Args:
        f: callable, a batch [n, ...] to values [n] or [n, 1].
        x: starts [n, ...].
        step_size: factor of f' in the first step.
        steps: most steps of a chain, an integer scalar.
        tolerance: a chain is at rest when the norm of its next step would be
            smaller.
    """
    wide = (..., *[None] * (x.shape.rank - 1))
    axes = list(range(1, x.shape.rank))
    x = tf.clip_by_value(x, -1.0, 1.0)
    value, slope = kernels.value_and_gradient(f, x)
    size = tf.fill(tf.shape(value), tf.cast(step_size, tf.float32))
    made = tf.zeros_like(value, tf.int32)
    resting = tf.zeros_like(value, tf.bool)
    for _ in tf.range(steps):
        end = tf.clip_by_value(x + size[wide] * slope, -1.0, 1.0)
        move = tf.sqrt(tf.reduce_sum((end - x) ** 2, axes))
        resting = resting | (move < tolerance)
        if tf.reduce_all(resting):
            break
        there, slope_there = kernels.value_and_gradient(f, end)
        rises = ~resting & (there > value)
        x = tf.where(rises[wide], end, x)
        slope = tf.where(rises[wide], slope_there, slope)
        value = tf.where(rises, there, value)
        made += tf.cast(rises, tf.int32)
        # Grows again, or one steep place would slow all that follows.
        larger = tf.minimum(1.2 * size, step_size)
        size = tf.where(rises, larger, 0.5 * size)
    return Rest(x, value, made, resting)


class Basins(NamedTuple):
    """Fixed points, and which chain came to rest at which.

    Attributes:
        x: the distinct fixed points, the largest basin first, [a, ...].
        sizes: how many chains ended at each, [a].
        member: the number of its fixed point for each chain, [n].
    """

    x: np.ndarray
    sizes: np.ndarray
    member: np.ndarray


def distinct(x: np.ndarray, same: float = SAME) -> Basins:
    """Groups ends that are the same fixed point.

    Args:
        x: ends [n, ...].
        same: root mean square difference of pixels below which two ends are
            the same fixed point.
    """
    flat = np.asarray(x, np.float64).reshape(len(x), -1)
    centers: list[int] = []
    member = np.empty(len(x), int)
    for i, row in enumerate(flat):
        gaps = np.sqrt(np.mean((flat[centers] - row) ** 2, axis=1))
        near = int(np.argmin(gaps)) if centers else 0
        if not centers or gaps[near] >= same:
            near = len(centers)
            centers.append(i)
        member[i] = near
    sizes = np.bincount(member)
    order = np.argsort(-sizes, kind="stable")
    rank = np.argsort(order)
    return Basins(np.asarray(x)[centers][order], sizes[order], rank[member])

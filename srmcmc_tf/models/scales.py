"""Images at several sizes, and the starts of all of them as one z."""

import math
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

Shape = tuple[int, ...]  # (h, w, c)

# The step of a descent over several scales, as a part of that of one scale:
# longer ones overshoot in contrast, and do not come back.
_STEP = 0.3


def check(shapes: Sequence[Shape]) -> None:
    """Raises `ValueError` where shapes are not those of a pyramid."""
    if not shapes:
        raise ValueError("a model needs at least one stage")
    for small, large in zip(shapes, shapes[1:], strict=False):
        sizes = zip(small[:-1], large[:-1], strict=False)
        if len(small) != 3 or len(large) != 3 or small[-1] != large[-1]:
            raise ValueError(
                "stages of a pyramid need images with the same channels, not "
                f"{small} and {large}"
            )
        if any(b <= a or b % a for a, b in sizes):
            raise ValueError(
                "stages go from coarse to fine, each size a multiple of the "
                f"one before: not {small} and {large}"
            )


def enlarge(x: tf.Tensor, shape: Shape) -> tf.Tensor:
    """Images [n, h, w, c] at a size that is a multiple: pixels repeated."""
    for axis in (1, 2):
        x = tf.repeat(x, shape[axis - 1] // x.shape[axis], axis=axis)
    return x


def shrink(x: tf.Tensor, shape: Shape) -> tf.Tensor:
    """Images at a size that divides theirs: means of squares of pixels."""
    if tuple(x.shape[1:]) == tuple(shape):
        return x
    factors = [x.shape[i] // shape[i - 1] for i in (1, 2)]
    return tf.nn.avg_pool2d(x, factors, factors, "VALID")


def add_up(x: tf.Tensor, shape: Shape) -> tf.Tensor:
    """The transpose of `enlarge`: sums of squares of pixels."""
    return (
        (x.shape[1] // shape[0]) * (x.shape[2] // shape[1]) * shrink(x, shape)
    )


def join(starts: Sequence[tf.Tensor]) -> tf.Tensor:
    """The starts of all stages as one z: [n, h, w, c], or flat if several."""
    if len(starts) == 1:
        return starts[0]
    rows = [tf.reshape(z, [-1, math.prod(z.shape[1:])]) for z in starts]
    return tf.concat(rows, axis=1)


def split(z: tf.Tensor, shapes: Sequence[Shape]) -> list[tf.Tensor]:
    """The inverse of `join`."""
    if len(shapes) == 1:
        return [z]
    parts = tf.split(z, [math.prod(shape) for shape in shapes], axis=1)
    return [
        tf.reshape(part, [-1, *shape])
        for part, shape in zip(parts, shapes, strict=True)
    ]


def metric(shapes: Sequence[Shape], start_noise: Sequence[float]) -> tf.Tensor:
    """Factors of a gradient by z, with which all scales move as far.

    A pixel of a coarse stage is many of an image, and the z of a following
    stage counts less: without them a descent diverges at the coarse end and
    does not move at the fine one. All scales together move by `_STEP` of what
    a single stage does, whose factor is 1.

    Args:
        shapes: of the images of each stage, coarse to fine.
        start_noise: the factor of each stage's z; the first has the factor 1.
    """
    factors = []
    for i, shape in enumerate(shapes):
        pixels = shapes[-1][0] // shape[0]
        weight = start_noise[i] if i else 1.0
        factor = 1.0 / (pixels * weight) ** 2 if weight else 0.0
        factor *= _STEP / len(shapes)
        factors.append(tf.fill([1, *shape], factor))
    return join(factors) if len(factors) > 1 else tf.constant(1.0)


def steps_within(i: int, K: Any, each: Sequence[int]) -> tf.Tensor:
    """How many of the first K steps of a chain are those of stage i.

    The last stage has all that follow, more than in training if need be.

    Args:
        i: number of the stage.
        K: steps of all stages together, an integer scalar.
        each: the steps of each stage in training.
    """
    K -= sum(each[:i])
    most = tf.int32.max if i + 1 == len(each) else each[i]
    return tf.clip_by_value(tf.cast(K, tf.int32), 0, most)


def later(x: tf.Tensor, before: tf.Tensor | None, steps: Any) -> tf.Tensor:
    """The frame of a stage, or of those before if it made no step of it."""
    if before is None:
        return x
    return tf.where(steps > 0, x, enlarge(before, tuple(x.shape[1:])))

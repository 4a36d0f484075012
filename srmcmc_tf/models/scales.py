"""Images at several sizes, and the starts of all of them as one z."""

import math
from collections.abc import Sequence

import tensorflow as tf

Shape = tuple[int, ...]  # (h, w, c)


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

"""What is known of an image: a part of its pixels, block means, gray values.

Each task is a linear observation of the image. `degrade` makes an image with
the same observation from which a chain can start; `free_directions` projects on
the directions that do not change it, so that a chain keeps what is known.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from srmcmc_tf.config.masks import known_pixels

TASKS = ("inpaint", "upscale", "colorize")
_LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)


def observe(
    task: str, shape: tuple[int, ...], *, mask: str, factor: int
) -> Callable[[tf.Tensor], tf.Tensor]:
    """A function from images to what is known of them, at full size.

    Args:
        task: "inpaint", "upscale" or "colorize".
        shape: (h, w, c) of an image.
        mask: of "inpaint"; see `known_pixels`.
        factor: of "upscale", how many times smaller the known image is.
    """
    if task == "inpaint":
        known = tf.constant(known_pixels(mask, shape[0]))
        return lambda x: tf.where(known, x, 0.0)
    if task == "upscale":
        if shape[0] % factor:
            raise ValueError(f"factor={factor}: must divide {shape[0]}")
        return lambda x: _coarse(x, factor)
    if shape[-1] != 3:
        raise ValueError("task=colorize: the images are gray, not in color")
    return lambda x: tf.repeat(_gray(x), 3, axis=-1)


def degrade(
    x: tf.Tensor,
    noise: tf.Tensor,
    *,
    task: str,
    mask: str,
    factor: int,
    start_noise: float,
) -> tf.Tensor:
    """The starts of chains that know a part of `x` [n, h, w, c] only.

    Args:
        x: images.
        noise: what the hole of "inpaint" is filled with, of the same shape.
        task, mask, factor: see `observe`.
        start_noise: factor of the noise that is added by the other tasks, in
            the directions that do not change what is known.

    Returns:
        The image with noise in the hole; or, plus noise, the small image,
        enlarged by bicubic interpolation with the same block means, or the
        gray image.
    """
    settings: Any = dict(mask=mask, factor=factor)
    if task == "inpaint":
        hole = tf.constant(known_pixels(mask, x.shape[1]))
        return tf.where(hole, x, noise)
    if task == "upscale":
        small = tf.nn.avg_pool2d(x, factor, factor, "VALID")
        large = tf.image.resize(small, x.shape[1:3], "bicubic")
        start = large + _enlarge(small - _means(large, factor), factor)
    else:
        start = observe(task, x.shape[1:], **settings)(x)
    free = free_directions(task, x.shape[1:], **settings)
    return start + start_noise * free(noise)


def free_directions(
    task: str, shape: tuple[int, ...], *, mask: str, factor: int
) -> Callable[[tf.Tensor], tf.Tensor]:
    """Orthogonal projection on the directions that keep what is known.

    Args are those of `observe`.
    """
    if task == "inpaint":
        hole = tf.constant(~known_pixels(mask, shape[0]))
        return lambda v: tf.where(hole, v, 0.0)
    if task == "upscale":
        return lambda v: v - _coarse(v, factor)
    weights = _LUMINANCE / np.sum(_LUMINANCE**2)
    return lambda v: v - _gray(v) * weights


def _coarse(x: tf.Tensor, factor: int) -> tf.Tensor:
    """The mean of each block, at full size."""
    return _enlarge(_means(x, factor), factor)


def _means(x: tf.Tensor, factor: int) -> tf.Tensor:
    return tf.nn.avg_pool2d(x, factor, factor, "VALID")


def _enlarge(x: tf.Tensor, factor: int) -> tf.Tensor:
    return tf.repeat(tf.repeat(x, factor, axis=1), factor, axis=2)


def _gray(x: tf.Tensor) -> tf.Tensor:
    """The luminance, [n, h, w, 1]."""
    return tf.reduce_sum(x * _LUMINANCE, axis=-1, keepdims=True)

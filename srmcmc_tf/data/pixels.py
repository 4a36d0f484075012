"""Pixels: uint8 images and floats in [-1, 1], and files cropped to squares."""

import pathlib

import numpy as np
import tensorflow as tf
from PIL import Image

from srmcmc_tf.errors import NonFiniteError
from srmcmc_tf.files import image_file


def to_float(images: tf.Tensor | np.ndarray) -> tf.Tensor:
    """uint8 in [0, 255] to float32 in [-1, 1]."""
    return tf.cast(images, tf.float32) / 127.5 - 1.0


def to_uint8(x: np.ndarray) -> np.ndarray:
    """Clips images to [-1, 1] and rounds to uint8, for display and metrics.

    `NonFiniteError` for NaN, which would become some color, and infinity.
    """
    if not np.isfinite(x).all():
        raise NonFiniteError(
            "the images are not finite, so they cannot be drawn or measured: "
            "the chain diverges; use another checkpoint, or a smaller K"
        )
    return np.round((np.clip(x, -1.0, 1.0) + 1.0) * 127.5).astype(np.uint8)


def square(
    content: pathlib.Path | bytes | np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """A file's path or bytes, or a uint8 array, as a uint8 array of `shape`.

    Raises:
        ValueError: if it is not an image that `image_file.read` accepts.
    """
    if isinstance(content, np.ndarray):
        return _square(Image.fromarray(content.squeeze()), shape)
    with image_file.opened(content, shape[2]) as image:
        return _square(image, shape)


def _square(image: Image.Image, shape: tuple[int, ...]) -> np.ndarray:
    size, _, channels = shape
    mode = "RGB" if channels == 3 else "L"
    if image.mode != mode:
        image = image.convert(mode)
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    image = image.resize(
        (size, size),
        Image.Resampling.BILINEAR,  # anti-aliased wherever it shrinks
        box=(left, top, left + side, top + side),
    )
    return np.asarray(image, np.uint8).reshape(shape)

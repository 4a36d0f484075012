"""PNG files of requests, opened as all images of the project are."""

import numpy as np
import tensorflow as tf
from werkzeug.exceptions import BadRequest

from srmcmc_tf.files import image_file
from srmcmc_tf.serving.inputs import PNG_HEAD, largest_png


def opened(
    files: tf.Tensor, image_shape: tuple[int, int, int], most: int
) -> tf.Tensor:
    """Returns the same images as files that hold nothing else.

    A small file can hold any amount of compressed data beside its image,
    which TensorFlow would decompress.

    Args:
        files: string [n].
        image_shape: (h, w, c) that they must have.
        most: if there are more files than this, none is opened.
    """
    if len(files) > most:
        return files  # which the signature rejects
    clean = [_clean(file, image_shape) for file in files.numpy()]
    return tf.constant(clean, tf.string)


def _clean(file: bytes, image_shape: tuple[int, int, int]) -> bytes:
    height, width, channels = image_shape
    rule = f"png_bytes must be PNG files of {width}x{height} pixels"
    largest = largest_png(height, width)
    if len(file) > largest:
        raise BadRequest(f"{rule} and at most {largest:,} bytes")
    if not file.startswith(PNG_HEAD):
        raise BadRequest(rule)
    try:
        image = image_file.read(file, channels, max_pixels=height * width)
    except ValueError as error:
        raise BadRequest(f"{rule}: {error}") from None
    if image.size != (width, height):
        raise BadRequest(rule)
    array = np.asarray(image).reshape(image_shape)
    return tf.io.encode_png(array).numpy()

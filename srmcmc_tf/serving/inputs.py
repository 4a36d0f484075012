"""Inputs of the signatures: their types, and checks before anything is run.

A check that fails is an error that names the input at fault. A server feeds
tensors of any shape, so types in a signature are not enough.
"""

import struct
from typing import Any, NamedTuple

import tensorflow as tf

from srmcmc_tf.data import pixels

# A chain is not clipped, so its images may leave [-1, 1]; a value beyond this
# is a mistake, such as pixels from 0 to 255.
LARGEST_PIXEL = 10.0
PNG_HEAD = b"\x89PNG\r\n\x1a\n"


class Limits(NamedTuple):
    """The limits of one request.

    Attributes:
        batch: images.
        K: steps of a chain.
        iterations: steps of a reconstruction's descent.
    """

    batch: int
    K: int
    iterations: int


def largest_png(height: int, width: int) -> int:
    """Returns the most bytes that a PNG file of a size needs.

    16 bits of four channels that cannot be compressed, and some room for
    texts and color profiles.
    """
    return 10 * height * width + 2**14


class Inputs:
    """The inputs of the signatures of a model.

    Args:
        image_shape: (h, w, c) of its images.
        limits: of a request.

    Attributes:
        limits: as above.
        specs: the `tf.TensorSpec` of each input, by name.
    """

    def __init__(self, image_shape: tuple[int, ...], limits: Limits) -> None:
        self.limits = limits
        types = {
            "seeds": ([None], tf.int64),
            "seeds_1": ([None], tf.int64),
            "seeds_2": ([None], tf.int64),
            "labels": ([None], tf.int64),
            "K": ([], tf.int32),
            "rho": ([None], tf.float32),
            "iterations": ([], tf.int32),
            "images": ([None, *image_shape], tf.float32),
            "images_uint8": ([None, *image_shape], tf.uint8),
            "png_bytes": ([None], tf.string),
        }
        self.specs = {
            name: tf.TensorSpec(shape, dtype, name)
            for name, (shape, dtype) in types.items()
        }
        # A table, because a graph's division by 127.5 becomes a product that
        # differs in the last bit.
        self._floats = pixels.to_float(tf.range(256))

    def batch(self, name: str, value: tf.Tensor) -> tf.Tensor:
        """Checks the shape of an input and its number of rows."""
        value = self._shaped(name, value)
        n, most = tf.shape(value)[0], self.limits.batch
        rule = f"must hold 1 to {most}"
        return checked(name, value, (n >= 1) & (n <= most), rule, n)

    def count(self, name: str, value: tf.Tensor, most: int) -> tf.Tensor:
        """Checks that an integer scalar lies in 0 to `most`."""
        value = self._shaped(name, value)
        rule = f"must be between 0 and {most}"
        good = (value >= 0) & (value <= most)
        return checked(name, value, good, rule, value)

    def images(self, images: tf.Tensor) -> tf.Tensor:
        """Checks images in about [-1, 1], float32 [n, h, w, c]."""
        x = self.batch("images", images)
        largest = tf.reduce_max(tf.abs(x))
        rule = f"must lie about [-1, 1], none beyond {LARGEST_PIXEL:g}"
        return checked("images", x, largest <= LARGEST_PIXEL, rule, largest)

    def images_uint8(self, images_uint8: tf.Tensor) -> tf.Tensor:
        """Checks pixels, uint8 [n, h, w, c]; returns them in [-1, 1]."""
        return self._to_float(self.batch("images_uint8", images_uint8))

    def png_bytes(self, png_bytes: tf.Tensor) -> tf.Tensor:
        """Checks PNG files, string [n]; returns their images in [-1, 1]."""
        files = self.batch("png_bytes", png_bytes)
        height, width, channels = self.specs["images"].shape[1:]
        # Every PNG file starts like this; another size is never decoded.
        size = struct.pack(">I4sII", 13, b"IHDR", width, height)
        head, most = PNG_HEAD + size, largest_png(height, width)
        lengths = tf.strings.length(files)
        good = tf.strings.substr(files, 0, len(head)) == head
        good = tf.reduce_all(good & (lengths <= most))
        rule = f"must be PNG files of {width}x{height} pixels, {most} bytes"
        files = checked("png_bytes", files, good, rule, lengths)
        with tf.name_scope("png_bytes"):  # for the decoder's own error
            decoded = tf.map_fn(
                lambda file: tf.io.decode_png(file, channels),
                files,
                fn_output_signature=tf.TensorSpec(
                    [height, width, channels], tf.uint8
                ),
            )
        return self._to_float(decoded)

    def _to_float(self, images_uint8: tf.Tensor) -> tf.Tensor:
        return tf.gather(self._floats, tf.cast(images_uint8, tf.int32))

    def _shaped(self, name: str, value: tf.Tensor) -> tf.Tensor:
        # The error message holds the name of the operation.
        shape = self.specs[name].shape
        return tf.ensure_shape(value, shape, name=f"{name}_shape")


def finite(name: str, x: tf.Tensor) -> tf.Tensor:
    """Checks that outputs are finite; `name` is the input at fault."""
    good = tf.reduce_all(tf.math.is_finite(x))
    rule = "leads to values that are not finite"
    return checked(name, x, good, rule, tf.reduce_max(tf.abs(x)))


def checked(
    name: str, value: tf.Tensor, good: tf.Tensor, rule: str, got: Any
) -> tf.Tensor:
    """Returns `value` once `good` is known: nothing is computed before."""
    check = tf.debugging.Assert(good, [f"{name} {rule}; got", got])
    with tf.control_dependencies([check]):
        return tf.identity(value)

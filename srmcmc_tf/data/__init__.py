"""Images and points to train on, and the batches made of them."""

from srmcmc_tf.data.examples import Examples, Labels, load, load_tfds
from srmcmc_tf.data.pipeline import batches
from srmcmc_tf.data.pixels import to_float, to_uint8

__all__ = [
    "Examples",
    "Labels",
    "batches",
    "load",
    "load_tfds",
    "to_float",
    "to_uint8",
]

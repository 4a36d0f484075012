"""What metrics look at images with: uint8 in, features and logits out.

Those of toys see points instead, float32 [n, d].
"""

import hashlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import tensorflow as tf


class Seen(NamedTuple):
    """A batch as a network sees it.

    Attributes:
        features: float32 [n, d].
        logits: float32 [n, classes]; None where there is no softmax layer.
    """

    features: tf.Tensor
    logits: tf.Tensor | None


class Network(NamedTuple):
    """A fixed feature function of images.

    Attributes:
        name: short, for the names of files.
        source: where its weights came from, for people.
        digest: short name of its weights.
        features: how many, d.
        classes: how many logits; 0 where the softmax layer is missing.
        names: the names of the Frechet distance, the kernel distance and the
            score of its outputs, by "fid", "kid" and "is".
        see: uint8 [n, h, w, c] to `Seen`; compiled.
    """

    name: str
    source: str
    digest: str
    features: int
    classes: int
    names: dict
    see: Callable

    def __call__(self, images):
        """The `Seen` of uint8 images [n, h, w, c], any n."""
        return self.see(tf.convert_to_tensor(images))


def digest(arrays):
    """A short name for the contents of arrays, by name."""
    sha = hashlib.sha256()
    for name in sorted(arrays):
        sha.update(name.encode())
        sha.update(np.ascontiguousarray(arrays[name]))
    return sha.hexdigest()[:8]

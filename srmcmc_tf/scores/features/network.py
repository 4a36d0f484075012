"""The interface of feature networks: uint8 images to features and logits.

Networks for toys take points instead, float32 [n, d].
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy.typing as npt
import tensorflow as tf


class Outputs(NamedTuple):
    """What a network returns for a batch.

    Attributes:
        features: float32 [n, d].
        logits: float32 [n, classes]; None if there is no softmax layer.
    """

    features: tf.Tensor
    logits: tf.Tensor | None


class Network(NamedTuple):
    """A fixed feature function of images.

    Attributes:
        name: short, for file names.
        source: where its weights came from, for messages.
        digest: of its weights.
        features: number of features, d.
        classes: number of logits; 0 if the softmax layer is missing.
        names: what the Frechet distance, the kernel distance and the score of
            its outputs are called, by "fid", "kid" and "is".
        function: uint8 tensor [n, h, w, c] to `Outputs`; compiled.
    """

    name: str
    source: str
    digest: str
    features: int
    classes: int
    names: Mapping[str, str]
    function: Callable[[tf.Tensor], Outputs]

    def __call__(self, images: npt.ArrayLike) -> Outputs:
        """The `Outputs` for uint8 images [n, h, w, c], any n."""
        return self.function(tf.convert_to_tensor(images))

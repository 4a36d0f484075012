"""The kernel distance between two sets of features: KID."""

from typing import Any

import keras
import numpy.typing as npt
import tensorflow as tf

from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.scores.streaming import Streaming

# 10 blocks of 1,000, the size of the subsets in the literature.
BLOCKS = 10
CAPACITY = 10_000


@keras.saving.register_keras_serializable("srmcmc_tf")
class KID(Streaming):
    """The squared MMD of features to a reference (Binkowski et al., 2018).

    The kernel is (x'y / d + 1)^3; the estimate, tensorflow-gan's, is unbiased
    at any n. Streaming it as FID is would need the d x d x d third moments, so
    the features of the first `capacity` samples are kept and later ones are
    ignored: memory is bounded and the estimate stays unbiased. Both sets are
    divided into `blocks` equal parts in the order of their indices; the value
    is the mean over the pairs of parts, which also give its standard error.
    Both sets must therefore be in random order.

    The state has one row per sample, at its index, and zeros elsewhere, so it
    is a sum over samples, too.

    Args:
        features: number of features per sample, d.
        reference: features of real samples, float32 [m, d]; not needed for
            `kept`. At most `capacity` of them are used.
        capacity: number of samples that are kept.
        blocks: parts of either set; fewer if a part had fewer than two samples.
        name: of the metric.
        dtype: as for any Keras metric; the value is always float64.

    Examples:

    >>> real = np.random.default_rng(0).normal(size=[2000, 4])
    >>> kid = KID(4, real, capacity=2000)
    >>> kid.update_state(real + 1.0)
    >>> bool(kid.result()["kid"] > 1.0)
    True
    """

    def __init__(
        self,
        features: int,
        reference: Any = None,
        capacity: int = CAPACITY,
        blocks: int = BLOCKS,
        name: str = "kid",
        dtype: Any = None,
    ) -> None:
        super().__init__(name, dtype)
        self.features = features
        self.reference = reference
        self.capacity = capacity
        self.blocks = blocks
        self.rows = self.add_sum("rows", [capacity, features], "float32")
        self.taken = self.add_sum("taken", [capacity])

    def update_state(
        self, features: npt.ArrayLike, index: npt.ArrayLike | None = None
    ) -> None:
        """Adds features [n, d] of the samples `index` [n]."""
        x = tf.cast(features, tf.float32)
        indices = self.count_batch(x, index)
        kept = indices < self.capacity
        places = tf.boolean_mask(indices, kept)[:, None]
        ones = tf.ones([tf.shape(places)[0]], tf.float64)
        self._add(self.rows, places, tf.boolean_mask(x, kept))
        self._add(self.taken, places, ones)

    def kept(self) -> tf.Tensor:
        """The kept features in the order of their indices, [m, d]."""
        taken = self.taken.value
        if tf.reduce_max(taken) > 1:
            raise ValueError("two samples have the same index: pass `index`")
        return tf.boolean_mask(self.rows.value, taken > 0)

    def result(self) -> dict[str, tf.Tensor]:
        """The distance and its standard error.

        Returns:
            A dictionary of float64 scalars; the error is NaN for one block.
        """
        if self.reference is None:
            raise ValueError("KID needs the reference's features for a result")
        fake = self.kept()
        real = tf.convert_to_tensor(self.reference[: self.capacity])
        n = len(real), len(fake)
        blocks = max(1, min(self.blocks, min(n) // 2))
        gan = compat.tensorflow_gan_metrics()
        value, error = gan.kernel_classifier_distance_and_std_from_activations(
            real, fake, -(-max(n) // blocks), tf.float64
        )
        return {self.name: value, f"{self.name}_standard_error": error}

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "features": self.features,
            "reference": keras.saving.serialize_keras_object(self.reference),
            "capacity": self.capacity,
            "blocks": self.blocks,
        }

    @staticmethod
    def _add(
        variable: keras.Variable, places: tf.Tensor, rows: tf.Tensor
    ) -> None:
        variable.assign(tf.tensor_scatter_nd_add(variable.value, places, rows))

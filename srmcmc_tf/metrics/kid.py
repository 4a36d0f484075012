"""The kernel distance between two sets of features: KID."""

import keras
import tensorflow as tf

from srmcmc_tf.metrics import tfgan
from srmcmc_tf.metrics.streaming import Streaming

# 10 blocks of 1,000, as many as the literature's subsets have.
BLOCKS = 10
CAPACITY = 10_000


@keras.saving.register_keras_serializable("srmcmc_tf")
class KID(Streaming):
    """The squared MMD of features to a reference (Binkowski et al., 2018).

    With the kernel (x'y / d + 1)^3 and without bias at any n. The kernel's
    third power would need the d x d x d third moments to be streamed as FID
    is; so the features of the first `capacity` samples are kept, and later
    ones are passed by: memory is bounded and the estimate stays unbiased.
    Both sets are cut into `blocks` equal parts, in the order of the indices;
    the value is the mean over the pairs of parts, and its standard error
    comes from them. Both sets must be in random order.

    The state is a row a sample, at its index, zero where no sample was: so
    it is a sum over samples, too. The estimate is tensorflow-gan's.

    Args:
        features: how many features a sample has, d.
        reference: features of real samples, float32 [m, d]; not needed for
            `kept`. At most `capacity` of them are used.
        capacity: how many samples are kept.
        blocks: parts of either set; fewer where a part had less than two.
        name: of the metric.
        dtype: as for any Keras metric; the value is float64 anyway.

    Examples:

    >>> real = np.random.default_rng(0).normal(size=[2000, 4])
    >>> kid = KID(4, real, capacity=2000)
    >>> kid.update_state(real + 1.0)
    >>> bool(kid.result()["kid"] > 1.0)
    True
    """

    def __init__(
        self,
        features,
        reference=None,
        capacity=CAPACITY,
        blocks=BLOCKS,
        name="kid",
        dtype=None,
    ):
        super().__init__(name, dtype)
        self.features = features
        self.reference = reference
        self.capacity = capacity
        self.blocks = blocks
        self.rows = self.add_sum("rows", [capacity, features], "float32")
        self.taken = self.add_sum("taken", [capacity])

    def update_state(self, features, index=None):
        """Adds features [n, d] of the samples `index` [n]."""
        x = tf.cast(features, tf.float32)
        index = self.number(x, index)
        kept = index < self.capacity
        places = tf.boolean_mask(index, kept)[:, None]
        ones = tf.ones([tf.shape(places)[0]], tf.float64)
        self._add(self.rows, places, tf.boolean_mask(x, kept))
        self._add(self.taken, places, ones)

    def kept(self):
        """The kept features in the order of their indices, [m, d]."""
        taken = self.taken.value
        if tf.reduce_max(taken) > 1:
            raise ValueError("two samples have the same index: give `index`")
        return tf.boolean_mask(self.rows.value, taken > 0)

    def result(self):
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
        estimate = (
            tfgan.load().kernel_classifier_distance_and_std_from_activations
        )
        value, error = estimate(real, fake, -(-max(n) // blocks), tf.float64)
        return {self.name: value, f"{self.name}_standard_error": error}

    def get_config(self):
        return {
            **super().get_config(),
            "features": self.features,
            "reference": keras.saving.serialize_keras_object(self.reference),
            "capacity": self.capacity,
            "blocks": self.blocks,
        }

    @classmethod
    def from_config(cls, config):
        reference = keras.saving.deserialize_keras_object(config["reference"])
        return cls(**{**config, "reference": reference})

    @staticmethod
    def _add(variable, places, rows):
        variable.assign(tf.tensor_scatter_nd_add(variable.value, places, rows))

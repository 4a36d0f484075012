"""Base class of metrics whose state is a sum over samples."""

from collections.abc import Iterable
from typing import Any

import keras
import numpy.typing as npt
import tensorflow as tf


class Streaming(keras.metrics.Metric):
    """A metric each of whose variables is a sum with one term per sample.

    The value therefore depends neither on the order of the samples nor on the
    batch size, up to rounding in float64. States of replicas, or of parts of
    the data, are merged by adding them (`merge_state`; Keras does the same
    when a `tf.distribute` strategy reads a metric), and a state saved to disk
    can be resumed.

    Where the position of a sample matters, `index` gives it, and the value is
    a function of the set of (index, sample) pairs. By default samples are
    numbered in the order they arrive; pass `index` when there are replicas,
    which would otherwise all count from zero.

    Args:
        name: of the metric.
        dtype: as for any Keras metric.
    """

    uses = "features"  # or "logits": the field of `Outputs` it sums over

    def __init__(self, name: str, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.count = self.add_sum("count", ())

    def add_sum(
        self, name: str, shape: Iterable[int], dtype: str = "float64"
    ) -> keras.Variable:
        """Adds a variable to the state, initially zero."""
        return self.add_variable(shape, "zeros", dtype, "sum", name)

    def count_batch(
        self, x: tf.Tensor, index: npt.ArrayLike | None
    ) -> tf.Tensor:
        """Counts the samples x [n, ...]; returns their indices, int64 [n]."""
        n = tf.shape(x, tf.int64)[0]
        if index is None:
            index = tf.cast(self.count.value, tf.int64) + tf.range(n)
        self.count.assign_add(tf.cast(n, tf.float64))
        return tf.cast(index, tf.int64)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Streaming":
        """The metric of a `get_config`, whose values may be arrays."""
        return cls(**keras.saving.deserialize_keras_object(config))

    def merge_state(self, metrics: Iterable["Streaming"]) -> None:
        """Adds the states of other metrics of the same kind."""
        for other in metrics:
            pairs = zip(self.variables, other.variables, strict=True)
            for mine, theirs in pairs:
                mine.assign_add(theirs.value)

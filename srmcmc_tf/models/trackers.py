"""The logged quantities: values of one update, and their means.

`train_step` returns the values of a single update, which callbacks receive
after each one. `fit` and `evaluate` report the means of `keras.metrics`
trackers over all rows since the epoch began; on many devices these are the
means that one device would have reported.
"""

from collections.abc import Sequence

import keras
import tensorflow as tf

from srmcmc_tf.distribution.replicas import Rows


class Trackers:
    """One `keras.metrics.Mean` per quantity, weighted by rows.

    Make it in the scope of the strategy.

    Args:
        names: of the quantities.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.means = [keras.metrics.Mean(name) for name in names]

    def update(
        self, values: dict[str, tf.Tensor], rows: Rows
    ) -> dict[str, tf.Tensor]:
        """Adds the values of a batch; returns them for the callbacks.

        Args:
            values: means over the rows of this replica, by name.
            rows: these rows.
        """
        for mean in self.means:
            if mean.name in values:
                mean.update_state(values[mean.name], rows.n)
        return rows.logs(values)

    def result(self) -> dict[str, tf.Tensor]:
        """The means of all quantities that were added since the last reset."""
        return {
            mean.name: mean.result()
            for mean in self.means
            if float(tf.convert_to_tensor(mean.count)) > 0
        }

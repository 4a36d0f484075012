"""A moving average of the weights, for sampling; it does not affect training.

`Generator.keep_average` starts one. Keras's own (`use_ema` of an optimizer) is
not used: its momentum is constant, so without the warm-up (1 + t) / (10 + t)
the initial weights would dominate for long; and checkpoints of existing runs
hold this one, as `average`.
"""

from typing import Any

import keras
import tensorflow as tf


class Average(tf.Module):
    """The exponential moving average of a model's weights, in float32.

    Args:
        model: a built `keras.Model`; the average starts at its weights.
        decay: weight of the past in an update, in [0, 1). In the first
            updates t it is (1 + t) / (10 + t) if that is smaller.
    """

    def __init__(self, model: keras.Model, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.values = [
            tf.Variable(w.value, dtype=tf.float32, trainable=False)
            for w in model.weights
        ]

        # One function per model: if it took the variables as arguments, under
        # a strategy later calls would use those of the first call.
        @tf.function
        def approach(rate: tf.Tensor) -> None:
            for value, weight in zip(self.values, model.weights, strict=True):
                value.assign_add(rate * (weight.value - value))

        self._approach = approach

    def update(self, model: Any) -> None:
        """Moves the average towards the weights after an update of a model."""
        t = float(model.update)
        decay = min(self.decay, (1.0 + t) / (10.0 + t))
        self._approach(tf.constant(1.0 - decay, tf.float32))

    def put_into(self, model: keras.Model) -> None:
        """Assigns the averaged weights to a model."""
        for weight, value in zip(model.weights, self.values, strict=True):
            weight.assign(value)


class UpdateAverage(keras.callbacks.Callback):
    """Updates `model.average` after each update.

    Put it before all other callbacks of this package: they use the average.
    """

    rank = 0  # see `fit_callbacks`

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.model.average.update(self.model)

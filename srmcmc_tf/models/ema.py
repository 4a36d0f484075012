"""A moving average of the weights, to sample with; training does not see it.

A model that keeps one has it as `model.average`; checkpoints hold it beside
the weights.
"""

import keras
import tensorflow as tf


class Average(tf.Module):
    """The exponential moving average of a model's weights, in float32.

    Args:
        model: a built `keras.Model`; the average starts at its weights.
        decay: weight of the past in an update, in [0, 1). In the first
            updates t it is (1 + t) / (10 + t), where that is smaller: else
            the initial weights would stay for long.
    """

    def __init__(self, model, decay):
        super().__init__()
        self.decay = decay
        self.values = [
            tf.Variable(w.value, dtype=tf.float32, trainable=False)
            for w in model.weights
        ]

        # A function of this model alone: one that took the variables as
        # arguments would, under a strategy, go on with those of its first call.
        @tf.function
        def approach(rate):
            for value, weight in zip(self.values, model.weights, strict=True):
                value.assign_add(rate * (weight.value - value))

        self._approach = approach

    def update(self, model):
        """Takes in the weights after an update of the model."""
        t = float(model.update)
        decay = min(self.decay, (1.0 + t) / (10.0 + t))
        self._approach(tf.constant(1.0 - decay, tf.float32))

    def put_into(self, model):
        """Gives the averaged weights to the model."""
        for weight, value in zip(model.weights, self.values, strict=True):
            weight.assign(value)


class UpdateAverage(keras.callbacks.Callback):
    """Moves `model.average` after each update; first among the callbacks."""

    def on_train_batch_end(self, batch, logs=None):
        self.model.average.update(self.model)

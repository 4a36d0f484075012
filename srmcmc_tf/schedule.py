"""Annealing: a setting as a pure function of the update number."""

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable("srmcmc_tf")
class Anneal(keras.optimizers.schedules.LearningRateSchedule):
    """Constant up to an update, then halved every `half_life` updates.

    It does not depend on how long the run is, so a longer run repeats a
    shorter one bit for bit.

    Args:
        initial: the value at the start.
        after: the update from which it falls.
        half_life: updates in which it halves; 0 keeps it constant.

    Examples:

    >>> round(float(Anneal(0.03, after=1000, half_life=500)(1500)), 6)
    0.015
    """

    def __init__(self, initial, *, after, half_life):
        self.initial = initial
        self.after = after
        self.half_life = half_life

    def __call__(self, step):
        if not self.half_life:
            return tf.constant(self.initial, tf.float32)
        past = tf.maximum(tf.cast(step, tf.float32) - self.after, 0.0)
        return self.initial * tf.pow(0.5, past / self.half_life)

    def get_config(self):
        return {
            "initial": self.initial,
            "after": self.after,
            "half_life": self.half_life,
        }

"""Schedules of the learning rate and of sigma."""

from typing import Any, Protocol

import keras
import tensorflow as tf


class SigmaSchedule(Protocol):
    """The sigma of each update; it may react to how training goes."""

    def __call__(self, step: Any) -> tf.Tensor:
        """Returns the sigma of an update."""

    def observe(self, update: int, unrest: float) -> None:
        """Records the guard's unrest after an update."""

    def state(self) -> dict[str, Any] | None:
        """Returns what a checkpoint must hold of it; None for nothing."""


@keras.saving.register_keras_serializable("srmcmc_tf")
class Anneal(keras.optimizers.schedules.LearningRateSchedule):
    """Constant up to an update, then halved every `half_life` updates.

    It does not depend on how long the run is, so a longer run repeats a
    shorter one bit for bit.

    Args:
        initial: the value at the start.
        after: the update from which it falls.
        half_life: updates in which it halves; 0 keeps it constant.
        least: it is never smaller.
        warm_up: updates in which it rises from 0, linearly.

    Examples:

    >>> round(float(Anneal(0.03, after=1000, half_life=500)(1500)), 6)
    0.015
    """

    def __init__(
        self,
        initial: float,
        *,
        after: int,
        half_life: int,
        least: float = 0.0,
        warm_up: int = 0,
    ) -> None:
        self.initial = initial
        self.after = after
        self.half_life = half_life
        self.least = least
        self.warm_up = warm_up

    def __repr__(self) -> str:
        values = ", ".join(f"{n}={v}" for n, v in self.get_config().items())
        return f"Anneal({values})"

    def __call__(self, step: Any) -> tf.Tensor:
        if not self.warm_up:
            return self._annealed(step)
        risen = (tf.cast(step, tf.float32) + 1.0) / self.warm_up
        return tf.minimum(risen, 1.0) * self._annealed(step)

    def _annealed(self, step: Any) -> tf.Tensor:
        if not self.half_life:
            return tf.constant(max(self.initial, self.least), tf.float32)
        past = tf.maximum(tf.cast(step, tf.float32) - self.after, 0.0)
        value = self.initial * tf.pow(0.5, past / self.half_life)
        return tf.maximum(value, self.least)

    def observe(self, update: int, unrest: float) -> None:
        """Does nothing: this schedule does not react."""

    def state(self) -> None:
        """Returns nothing: this schedule is a function of the update."""

    def get_config(self) -> dict[str, Any]:
        return {
            "initial": self.initial,
            "after": self.after,
            "half_life": self.half_life,
            "least": self.least,
            "warm_up": self.warm_up,
        }


def at_least(sigma: Any, least: float) -> Any:
    """A sigma that is never smaller: a number, or a function of the update."""
    if isinstance(sigma, Anneal):
        config = sigma.get_config()
        return Anneal(**{**config, "least": max(sigma.least, least)})
    if callable(sigma):
        return lambda step: tf.maximum(sigma(step), least)
    return max(sigma, least)


class AutoSigma:
    """The paper's "decrease until training is unstable", automated.

    Sigma is constant for `WINDOW` updates. After a window in which the
    guard's unrest stayed below `CALM`, sigma falls; after one in which it rose
    above `RESTLESS`, sigma goes back up; else it stays. Where the guard had to
    roll back, `least` keeps sigma above where that happened.

    What is decided at the end of a window holds from the window after the
    next one on: batches are made a few updates ahead, and so each has the
    same sigma in every run, killed or not.

    Args:
        learning_rate: of Adam. Sigma halves in 1 / (4 learning_rate) updates
            at the fastest: a network that learns slower is given more time.
        least: sigma is never smaller.
        state: of an earlier one, to resume from.
    """

    START = 0.2
    WINDOW = 50
    CALM, RESTLESS = 2.0, 3.0
    BACK_UP = 1.1

    def __init__(
        self,
        *,
        learning_rate: float,
        least: float,
        state: dict[str, Any] | None = None,
    ) -> None:
        state = state or {"levels": [self.START, self.START], "worst": 0.0}
        self.fall = 0.5 ** (4 * self.WINDOW * learning_rate)
        self.least = least
        self.worst = state["worst"]
        # Of the present window and the next, by the parity of its number.
        self.levels = [max(level, least) for level in state["levels"]]
        with tf.device("cpu"):  # where the batches are made
            self._levels = tf.Variable(self.levels, dtype=tf.float32)

    def __call__(self, step: Any) -> tf.Tensor:
        window = tf.cast(step, tf.int64) // self.WINDOW
        return tf.gather(self._levels, window % 2)

    def observe(self, update: int, unrest: float) -> None:
        """Records an update's unrest; decides at the end of a window."""
        self.worst = max(self.worst, unrest)
        if update % self.WINDOW:
            return
        window = update // self.WINDOW  # the one that begins
        level = self.levels[window % 2]
        if self.worst < self.CALM:
            level = max(level * self.fall, self.least)
        elif self.worst > self.RESTLESS:
            level = min(level * self.BACK_UP, max(self.START, self.least))
        self.levels[(window + 1) % 2] = level
        self._levels.assign(self.levels)
        self.worst = 0.0

    def state(self) -> dict[str, Any]:
        return {"levels": list(self.levels), "worst": self.worst}

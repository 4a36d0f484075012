"""Callbacks that end `fit`: on values that are not finite, and on signals."""

import logging
import math
import signal
import threading
from types import FrameType
from typing import Any

import tensorflow as tf

from srmcmc_tf.distribution import strategies
from srmcmc_tf.errors import NonFiniteError
from srmcmc_tf.training.callbacks.base import UpdateCallback

logger = logging.getLogger(__name__)


class StopOnNonFinite(UpdateCallback):
    """Raises `NonFiniteError` as soon as a quantity is infinite or NaN."""

    rank = 1

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        for name, value in logs.items():
            if not math.isfinite(value):
                raise NonFiniteError(f"update {update}: {name} is {value}")


class StopOnSignal(UpdateCallback):
    """Ends `fit` after the current update on SIGTERM, SIGHUP or Ctrl-C.

    A signal that is ignored, as SIGHUP under nohup, stays ignored.
    If one worker of several receives the signal, all stop at the same update.
    `fit` then ends as usual, so that the other callbacks save. A second Ctrl-C
    interrupts at once.

    Attributes:
        caught: the signal that this process caught, at any moment.
        received: the signal that all workers agreed on after an update.
    """

    def __init__(self) -> None:
        super().__init__()
        self.caught: signal.Signals | None = None
        self.received: signal.Signals | None = None
        self._before: dict[int, Any] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # as in a worker of Ray: Python allows no handlers there
        signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        self._before = {
            s: signal.signal(s, self._receive)
            for s in signals
            if signal.getsignal(s) is not signal.SIG_IGN  # as by nohup
        }

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        self.agree(self.model.distribute_strategy)
        if self.received:
            self.model.stop_training = True

    def agree(self, strategy: tf.distribute.Strategy) -> None:
        """Shares a caught signal; all workers must call it together."""
        number = strategies.maximum_over_workers(strategy, self.caught or 0)
        if number:
            self.received = signal.Signals(number)

    def close(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.caught = signal.Signals(number)
        if signal.SIGINT in self._before:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        logger.warning("%s: saving after this update", self.caught.name)

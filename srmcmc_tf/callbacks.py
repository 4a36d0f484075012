"""Callbacks for `fit`: logs, pictures, checkpoints, guard, EMA, evaluation."""

from srmcmc_tf.models.ema import UpdateAverage
from srmcmc_tf.training.callbacks.checkpoints import Checkpoints
from srmcmc_tf.training.callbacks.evaluate import Evaluate
from srmcmc_tf.training.callbacks.log import Log
from srmcmc_tf.training.callbacks.pictures import Pictures
from srmcmc_tf.training.callbacks.stop import StopOnNonFinite, StopOnSignal
from srmcmc_tf.training.guard.callback import Guard

__all__ = [
    "Checkpoints",
    "Evaluate",
    "Guard",
    "Log",
    "Pictures",
    "StopOnNonFinite",
    "StopOnSignal",
    "UpdateAverage",
]

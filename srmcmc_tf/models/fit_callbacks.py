"""What `fit` does with callbacks: checks their order, and warns of divergence.

A callback of ours has a `rank`: those of a lower rank come first. It may have
`check_callbacks`, which is given all callbacks before `fit` begins and raises
`ValueError` where one that it needs is missing.
"""

import itertools
import logging
from typing import Any

import keras

from srmcmc_tf.models import divergence, ema

logger = logging.getLogger(__name__)


class WarnOfDivergence(keras.callbacks.Callback):
    """Logs one warning where a training diverges; it changes nothing.

    `fit` adds it unless a callback `judges` divergence itself. It remembers
    what it saw from one `fit` to the next.
    """

    def __init__(self) -> None:
        super().__init__()
        self.state = divergence.State()
        self.warned = False
        self._update = 0

    def on_train_begin(self, logs: Any = None) -> None:
        if self.model.update != self._update:  # restored, or trained elsewhere
            self.state, self.warned = divergence.State(), False

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._update = self.model.update
        if self.warned or not logs or not logs.keys() >= {*divergence.NAMES}:
            return  # the baselines have no chain
        values = {name: float(logs[name]) for name in divergence.NAMES}
        reason = divergence.not_finite(values)
        if not reason:
            self.state = divergence.observe(self.state, values)
            if not self.state.diverged:
                return
            reason = divergence.describe(self.state, values)
        self.warned = True
        logger.warning(
            "update %s: the training diverges, %s: stop it, and use a larger "
            "sigma or K, or a smaller learning rate; or add "
            "srmcmc_tf.callbacks.Guard, which rolls back",
            f"{self._update:,}",
            reason,
        )


def arrange(model: Any, callbacks: Any) -> Any:
    """Returns the callbacks of a `fit`, checked and with the warning.

    Args:
        model: the `Generator` to fit.
        callbacks: as given to `fit`.
    """
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks
    given = keras.tree.flatten(callbacks) if callbacks is not None else []
    ranked = [one for one in given if hasattr(one, "rank")]
    if ranked and model.steps_per_execution > 1:
        raise ValueError(
            f"callbacks: {_name(ranked[0])} must see every update, but the "
            f"model is compiled with "
            f"steps_per_execution={model.steps_per_execution}: use 1"
        )
    for first, second in itertools.pairwise(ranked):
        if second.rank < first.rank:
            raise ValueError(
                f"callbacks: put {_name(second)} before {_name(first)}"
            )
    averages = any(isinstance(one, ema.UpdateAverage) for one in given)
    if averages != (model.average is not None):
        raise ValueError(
            "callbacks: UpdateAverage needs model.keep_average(0.999) first"
            if averages
            else "callbacks: put UpdateAverage first, because the model keeps "
            "an average of its weights; or set model.average = None"
        )
    for one in given:
        if hasattr(one, "check_callbacks"):
            one.check_callbacks(given)
    judged = any(getattr(one, "judges", False) for one in given)
    return given if judged else [*given, model.warning]


def _name(callback: keras.callbacks.Callback) -> str:
    return type(callback).__name__

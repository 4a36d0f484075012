"""The log of each update: TensorBoard, and a line of JSON."""

import os
import time
from collections.abc import Callable
from typing import Any, TextIO

from srmcmc_tf.runs import metrics_log, tensorboard
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training.callbacks.base import UpdateCallback


class Log(UpdateCallback):
    """Writes each update's quantities to TensorBoard and to a JSON file.

    A run that resumes continues both after the update it resumes from.

    Args:
        directory: the run directory.
        every: updates between two logged ones.
        extra: returns more quantities of the update, by name.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        every: int = 1,
        extra: Callable[[], dict[str, float]] = dict,
    ) -> None:
        super().__init__()
        self.run = Run(directory)
        self.every = every
        self.extra = extra
        self._file: TextIO | None = None
        self._writer: tensorboard.Writer | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        self._writer = tensorboard.Writer(self.run.tensorboard_directory)
        self.run.resume_metrics(self.model.update)
        self._file = metrics_log.open_to_append(self.run.metrics_file)
        self._last = self.model.update, time.perf_counter()

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        if update % self.every:
            return
        assert self._file and self._writer  # opened by on_train_begin
        now = time.perf_counter()
        last, then = self._last
        self._last = update, now
        logs = {**logs, **self.extra()}
        logs["updates_per_second"] = (update - last) / (now - then)
        metrics_log.append(self._file, update, logs)
        with self._writer.at(update):
            for name, value in logs.items():
                tensorboard.scalar(f"train/{name}", value)

    def on_rollback(self) -> None:
        super().on_rollback()
        self.close()
        self.on_train_begin()

    def close(self) -> None:
        if self._file and self._writer:
            self._file.close()
            self._writer.close()
        self._file = self._writer = None

"""Evaluation during training: values in TensorBoard, the best model kept."""

import logging
import os
from collections.abc import Callable
from typing import Any

from srmcmc_tf.evaluation import compare, evaluate
from srmcmc_tf.evaluation import measure as measuring
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.runs import tensorboard
from srmcmc_tf.runs.evaluations import Records
from srmcmc_tf.runs.run import Run
from srmcmc_tf.scores.features.network import Network
from srmcmc_tf.training.callbacks.base import UpdateCallback

logger = logging.getLogger(__name__)

Stop = Callable[[], bool]


class Evaluate(UpdateCallback):
    """Measures the model every so many updates and keeps the best.

    The run directory holds the records of each evaluated update, the
    checkpoint of the one with the lowest value, and that of the best before
    it, in case the guard rolls back the newer one. A run that resumes repeats
    the evaluation it was stopped in, and ends with the same of both.

    Args:
        directory: the run directory.
        real: the images to compare with: an array, a folder, a dataset, ...,
            as for `metrics.fid`.
        every: updates between two evaluations.
        n: samples of an evaluation, those of the seeds 0 to n - 1.
        inception: path of Inception's weights, by default downloaded once.
        network: computes features instead of the one for such images.
        stop: returns whether the run is to end.

    Attributes:
        by: the name whose lowest value is the best: "fid", or that of its
            counterpart for gray images.
        evaluated: records by name, by update.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        real: compare.Images,
        *,
        every: int = 1_000,
        n: int = 1_000,
        inception: str = "",
        network: Network | None = None,
        stop: Stop = lambda: False,
    ) -> None:
        super().__init__()
        self.run = Run(directory)
        images = compare.image_set(real, "real")
        self.shape = images.shape
        network = network or evaluate.network_for(images.shape, inception)
        self.measure, self.by = evaluate.during_training(images, network, n)
        self.every = every
        self.stop = stop
        self.evaluated: dict[int, Records] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        if self.model.image_shape != self.shape:
            raise ValueError(
                f"Evaluate: the images are {self.shape}, those of the model "
                f"{self.model.image_shape}"
            )
        self.resume(self.model)

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        self._evaluate(self.model)

    def on_rollback(self) -> None:
        super().on_rollback()
        self.resume(self.model)

    def resume(self, model: Generator) -> None:
        """Repeats an evaluation that the run was stopped in."""
        self.evaluated = self.run.evaluations.resume(model.update)
        self.run.best.remove_leftovers()
        self.run.best.discard_after(model.update)
        if model.update and model.update not in self.evaluated:
            self._evaluate(model)

    def _evaluate(self, model: Generator) -> None:
        update = model.update
        if update % self.every:
            return
        with model.averaged():
            found = self.measure(model, self.stop)
        if found is None:
            return
        best = self._beats_best(found)
        if best:  # before it is recorded: a crash in between is safe
            self.run.best.save(model)
        self.evaluated[update] = found
        self.run.evaluations.write(self.evaluated)
        self._show(update, found)
        note = ", the best so far" if best else ""
        lines = [f"evaluation of update {update:,}{note}:"]
        lines += [f"  {measuring.describe(*item)}" for item in found.items()]
        logger.info("\n".join(lines))

    def _beats_best(self, found: Records) -> bool:
        kept = self.run.best.updates()
        known = [self.evaluated[u] for u in kept if u in self.evaluated]
        value = found[self.by]["value"]
        return all(value < record[self.by]["value"] for record in known)

    def _show(self, update: int, found: Records) -> None:
        with tensorboard.once(self.run.tensorboard_directory, update):
            for name, record in found.items():
                if record["value"] is not None:
                    tensorboard.scalar(
                        f"evaluate/{name}",
                        record["value"],
                        description=measuring.describe(name, record),
                    )

"""Checkpoints written during training."""

import os
from collections.abc import Callable, Collection
from typing import Any

from srmcmc_tf.errors import UserError
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.runs.checkpoints import Saved
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training.callbacks.base import UpdateCallback
from srmcmc_tf.training.guard import rollback
from srmcmc_tf.training.guard.judge import Judge


class Checkpoints(UpdateCallback):
    """Saves the state every so many updates, and at the end.

    Args:
        directory: the run directory.
        every: updates between two checkpoints.
        keep: returns, for an update, those whose checkpoints must be kept
            besides the newest two.
        notes: returns what is stored with a checkpoint, for JSON.

    Attributes:
        saved: what each checkpoint of this `fit` cost.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        every: int = 500,
        keep: Callable[[int], Collection[int]] | None = None,
        notes: Callable[[], dict[str, Any]] | None = None,
    ) -> None:
        super().__init__()
        self.run = Run(directory)
        self.checkpoints = self.run.checkpoints
        self.every = every
        self.keep = keep
        self.notes = notes
        self.saved: list[Saved] = []
        self._served: Judge | None = None

    def restore(self, model: Generator) -> int:
        """Restores the newest checkpoint into a compiled model, if any.

        Returns:
            The number of batches used so far, the `start` of `data.batches`:
            the updates, and those that a `Guard` has undone.
        """
        if self.checkpoints.restore_newest(model):
            self.checkpoints.discard_after(model.update)
        past = self.run.interventions.resume(model.update)
        if past:  # of a Guard, and so of a model with chains
            rollback.use_branch(model, past)
        return model.update + rollback.lost_updates(past)

    def restore_best(self, model: Generator) -> int:
        """Restores the best checkpoint of `Evaluate`; returns its update."""
        if not self.run.best.restore_newest(model):
            raise UserError(
                f"{self.run} has no best checkpoint: add Evaluate to fit"
            )
        return model.update

    def serve(self, judge: Judge) -> None:
        """Saves at the start, too, and keeps what a judge rolls back to."""
        if self._served is not judge and (self.keep or self.notes):
            raise ValueError(
                "callbacks: Checkpoints cannot have `keep` or `notes` of its "
                "own beside a Guard"
            )
        self._served = judge
        self.keep, self.notes = judge.keep, judge.notes

    def on_train_begin(self, logs: Any = None) -> None:
        self.checkpoints.remove_leftovers()
        newest, start = self.checkpoints.latest(), self.model.update
        if newest and int(newest.name) > start:
            raise UserError(
                f"{newest} is later than update {start}, of this model: "
                "restore it, or save to another directory"
            )
        if self._served and start not in self.checkpoints.updates():
            self._save()

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        if update % self.every == 0:
            self._save()

    def on_train_end(self, logs: Any = None) -> None:
        if self.model.update not in self.checkpoints.updates():
            self._save()

    def _save(self) -> None:
        saved = self.checkpoints.save(
            self.model,
            keep=self.keep(self.model.update) if self.keep else (),
            notes=self.notes() if self.notes else None,
        )
        self.saved.append(saved)

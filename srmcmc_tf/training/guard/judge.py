"""The callback that judges each update by the rule of divergence."""

from typing import Any

from srmcmc_tf.errors import NonFiniteError
from srmcmc_tf.models import divergence
from srmcmc_tf.models.divergence import Divergence
from srmcmc_tf.models.schedules import SigmaSchedule
from srmcmc_tf.runs import checkpoints
from srmcmc_tf.training.callbacks.base import UpdateCallback
from srmcmc_tf.training.guard import rollback


class Judge(UpdateCallback):
    """Judges each update by the rule and raises `Divergence`.

    It comes before the callbacks that save, log or draw: an update that
    diverged must leave nothing behind.

    Args:
        sigma: the schedule of sigma, which observes the unrest; None if the
            data get their noise elsewhere.
        every: updates between two checkpoints.
        last: the last update, whose weights are saved, too.
        state: `notes()["guard"]` of the checkpoint to resume from.

    Attributes:
        shown: quantities of the update for the log.
    """

    rank = 1
    judges = True

    def __init__(
        self,
        sigma: SigmaSchedule | None = None,
        *,
        every: int = 1,
        last: int | None = None,
        state: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.sigma = sigma
        self.every = every
        self.last = last
        self.state = divergence.State(**(state or {}))
        self.shown: dict[str, float] = {}

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        broken = divergence.not_finite(logs)
        if broken:
            raise Divergence(update, broken)
        if update % self.every == 0 or update == self.last:
            self._check_weights(update)
        self.state = divergence.observe(self.state, logs)
        if self.state.diverged:
            raise Divergence(update, divergence.describe(self.state, logs))
        self.shown = {"unrest": self.state.unrest}
        if self.sigma:
            # Before the schedule observes this update, which it did not affect.
            sigma = float(self.sigma(update - 1))
            self.shown = {"sigma": sigma, **self.shown}
            self.sigma.observe(update, self.state.unrest)

    def keep(self, update: int) -> set[int]:
        """Returns the updates whose checkpoints must be kept."""
        return rollback.kept(self.every, update)

    def notes(self) -> dict[str, Any]:
        """Returns what a checkpoint must hold to resume from it."""
        notes = {"guard": self.state.to_dict()}
        sigma = self.sigma.state() if self.sigma else None
        return notes if sigma is None else {**notes, "sigma": sigma}

    def _check_weights(self, update: int) -> None:
        # Before the chief saves: all workers must see the same divergence.
        try:
            checkpoints.check_finite(self.model)
        except NonFiniteError as error:
            raise Divergence(update, str(error)) from None

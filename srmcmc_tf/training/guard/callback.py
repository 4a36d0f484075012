"""The divergence guard of any `fit`: it rolls back in place."""

import logging
import pathlib
from collections.abc import Sequence
from typing import Any

import keras

from srmcmc_tf.models import divergence
from srmcmc_tf.models.divergence import Divergence
from srmcmc_tf.runs import checkpoints, interventions
from srmcmc_tf.training.callbacks.base import UpdateCallback
from srmcmc_tf.training.callbacks.checkpoints import Checkpoints
from srmcmc_tf.training.guard import rollback
from srmcmc_tf.training.guard.judge import Judge

logger = logging.getLogger(__name__)


class Guard(Judge):
    """Rolls the model back where its training diverges; `fit` goes on.

    The model gets the state of its last good checkpoint and a new random seed.
    If it diverges again nearby and adds the noise of the data itself
    (`ShortRunEBM(sigma=)`), its sigma is raised, too. After ten rollbacks
    `NonFiniteError` is raised. The lost updates are not repeated: `fit` takes
    the next batches, and makes fewer updates than batches.

    Put it before the other callbacks of this package but `UpdateAverage`. A
    `Checkpoints` must be among them.

    Examples:

    >>> model = srmcmc_tf.load("runs/digits")
    >>> model.average = None
    >>> images = np.zeros([8, 8, 8, 1], np.uint8)
    >>> saves = srmcmc_tf.callbacks.Checkpoints("runs/guarded")
    >>> batches = srmcmc_tf.data.batches(images, batch_size=4)
    >>> guarded = [srmcmc_tf.callbacks.Guard(), saves]
    >>> _ = model.fit(batches, verbose=0, callbacks=guarded)
    """

    def __init__(self) -> None:
        super().__init__()
        self._saves: Checkpoints | None = None
        self._others: list[UpdateCallback] = []

    def check_callbacks(
        self, callbacks: Sequence[keras.callbacks.Callback]
    ) -> None:
        """Finds the callbacks it works with; see `fit_callbacks`."""
        saves = [one for one in callbacks if isinstance(one, Checkpoints)]
        if len(saves) != 1:
            raise ValueError(
                f"callbacks: Guard needs one Checkpoints, not {len(saves)}: "
                "Checkpoints(DIRECTORY) saves what it rolls back to"
            )
        saves[0].serve(self)
        self._saves, self.every = saves[0], saves[0].every
        self._others = [
            one
            for one in callbacks
            if isinstance(one, UpdateCallback) and one is not self
        ]

    def on_train_begin(self, logs: Any = None) -> None:
        assert self._saves  # found by check_callbacks
        path = self._saves.checkpoints.latest()
        if path and int(path.name) == self.model.update:
            self._resume(path)

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        try:
            super().on_update(update, logs)
        except Divergence as found:
            self._roll_back(found)

    def _roll_back(self, found: Divergence) -> None:
        assert self._saves  # found by check_callbacks
        model, kept = self.model, self._saves.checkpoints
        sigma = rollback.own_sigma(model)
        seed = model.seed
        intervention = rollback.roll_back(
            self._saves.run,
            found,
            every=self.every,
            sigma=sigma,
            seed=lambda number: rollback.branch_seed(seed, number),
            raise_sigma="again" if sigma else "never",
            start=kept.updates()[0],
        )
        path = kept.restore_newest(model)
        assert path  # the one that it was rolled back to
        self._resume(path)
        rollback.use_branch(model, [intervention])
        model.make_train_function()  # `fit` calls it after the next batch
        for other in self._others:
            other.on_rollback()
        logger.warning(interventions.describe(intervention))

    def _resume(self, path: pathlib.Path) -> None:
        """Goes on with the state that is stored with a checkpoint."""
        notes = checkpoints.notes(path) or {}
        self.state = divergence.State(**notes.get("guard", {}))

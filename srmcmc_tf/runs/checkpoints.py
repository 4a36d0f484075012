"""Checkpoints: a directory each, complete or absent.

`checkpoints/000500/` holds the state after update 500: weights, their average
where one is kept, optimizer, update number, and notes, such as the state of
the divergence guard. All else of a run is a function of its config.
"""

import json
import logging
import pathlib
import time
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from srmcmc_tf.errors import NonFiniteError, UserError, reason
from srmcmc_tf.files import atomic, paths
from srmcmc_tf.models.generator import Generator

logger = logging.getLogger(__name__)

KEEP = 2
REMEDY = "Free disk space or fix the directory, then repeat the command"
_NOTES = "notes/.ATTRIBUTES/py_state"


class Saved(NamedTuple):
    """What a checkpoint cost."""

    path: pathlib.Path
    seconds: float
    megabytes: float


class Checkpoints:
    """A directory of checkpoints, named by their updates.

    Args:
        directory: its path; it may not exist yet.
    """

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = pathlib.Path(directory)

    def save(
        self,
        model: Generator,
        *,
        keep: Collection[int] = (),
        notes: dict[str, Any] | None = None,
    ) -> Saved:
        """Writes the state of a compiled model; keeps the newest two.

        Args:
            model: its `checkpoint_items()` are what is saved.
            keep: updates whose checkpoints are kept, too.
            notes: a dictionary to store with it, as JSON.
        """
        begin = time.perf_counter()
        check_finite(model)
        path = self.directory / f"{model.update:06d}"
        try:
            with atomic.directory(path) as temporary:
                state = _state(model, _Notes(notes or {}))
                state.write(str(temporary / "state"))
        except (OSError, tf.errors.OpError) as error:
            raise _not_written(path, error, self.latest()) from None
        for old in self._all()[:-KEEP]:
            if int(old.name) not in keep:
                atomic.remove_directory(old)
        return Saved(path, time.perf_counter() - begin, _megabytes(path))

    def latest(self) -> pathlib.Path | None:
        """Returns the newest checkpoint, or None."""
        return next(reversed(self._all()), None)

    def updates(self) -> list[int]:
        """Returns the updates of all checkpoints, in order."""
        return [int(path.name) for path in self._all()]

    def restore_newest(self, model: Generator) -> pathlib.Path | None:
        """Restores the newest checkpoint that can be read and is finite.

        Returns:
            Its path, or None where there is no checkpoint at all. `UserError`
            where there are some, but none can be read.
        """
        failure = None
        for path in reversed(self._all()):
            try:
                restore(path, model)
                return path
            except UserError as error:
                failure = error
                logger.warning("warning: %s", error)
        if failure:
            raise UserError(
                f"{failure}, and there is none before it that can be read. "
                "Restore it, and the settings of its run, from a copy, or "
                "train again in another directory; nothing was changed"
            )
        return None

    def discard_after(self, update: int) -> None:
        """Removes the checkpoints later than `update`."""
        for path in self._all():
            if int(path.name) > update:
                atomic.remove_directory(path)

    def remove_leftovers(self) -> None:
        """Removes what a killed process left half written or removed."""
        atomic.remove_leftovers(self.directory)

    def _all(self) -> list[pathlib.Path]:
        found = self.directory.iterdir() if self.directory.is_dir() else ()
        numbered = [p for p in found if paths.number(p.name) is not None]
        return sorted(numbered, key=lambda path: int(path.name))


def restore(path: pathlib.Path, model: Generator) -> int:
    """Puts the state at `path` into a compiled model; returns its update."""
    try:
        held = _Notes({}) if notes(path) is not None else None
        state = _state(model, held)
        state.read(str(pathlib.Path(path) / "state")).assert_consumed()
        check_finite(model)
    except Exception as error:  # a damaged file raises all kinds of them
        raise UserError(f"cannot restore {path}: {reason(error)}") from None
    return model.update


def notes(path: pathlib.Path) -> dict[str, Any] | None:
    """Returns the notes stored with the state at `path`.

    None where they are missing, as in checkpoints of the first version.
    """
    reader = tf.train.load_checkpoint(str(pathlib.Path(path) / "state"))
    if not reader.has_tensor(_NOTES):
        return None
    return json.loads(reader.get_tensor(_NOTES))


def check_finite(model: Generator) -> None:
    """Raises `NonFiniteError` where what a checkpoint holds is not finite."""
    for item in model.checkpoint_items().values():
        for variable in item.variables:
            if not np.isfinite(variable.numpy()).all():
                name = getattr(variable, "path", variable.name)
                raise NonFiniteError(
                    f"update {model.update}: {name} is not finite"
                )


class _Notes(tf.train.experimental.PythonState):
    """Notes inside a checkpoint, where they have a checksum as all else."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def serialize(self) -> str:
        return json.dumps(self.values)

    def deserialize(self, text: str) -> None:
        self.values = json.loads(text)


def _state(model: Generator, held: _Notes | None) -> tf.train.Checkpoint:
    items = model.checkpoint_items()
    return tf.train.Checkpoint(**items, **({"notes": held} if held else {}))


def _not_written(
    path: pathlib.Path, error: Exception, last: pathlib.Path | None
) -> UserError:
    kept = f"{last} is kept" if last else "there is none before it"
    return UserError(
        f"cannot write checkpoint {path} ({reason(error)}); {kept}. {REMEDY}"
    )


def _megabytes(path: pathlib.Path) -> float:
    return sum(file.stat().st_size for file in path.iterdir()) / 1e6

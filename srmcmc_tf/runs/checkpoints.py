"""Checkpoints: a directory each, complete or not there at all.

`checkpoints/000500/` holds the state after update 500: weights, their average
where one is kept, optimizer, update number, and notes, such as what the guard
remembers. All else of a run is a function of its config. It is written under
another name, brought to the disk and renamed.
"""

import json
import os
import pathlib
import shutil
import sys
import time
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from srmcmc_tf.errors import NonFiniteError, UserError, reason

KEEP = 2
WHAT_TO_DO = "Make room or mend the directory, then give the same command again"
_NOTES = "notes/.ATTRIBUTES/py_state"


class Saved(NamedTuple):
    """What a checkpoint cost."""

    path: pathlib.Path
    seconds: float
    megabytes: float


class _Notes(tf.train.experimental.PythonState):
    """Notes inside a checkpoint, where they have a checksum as all else."""

    def __init__(self, values):
        self.values = values

    def serialize(self):
        return json.dumps(self.values)

    def deserialize(self, text):
        self.values = json.loads(text)


def save(directory, model, *, keep=(), notes=None):
    """Writes the state of a compiled model; keeps the newest two.

    Args:
        directory: the run's `checkpoints` directory.
        model: a compiled model whose `checkpoint_items()` are networks and
            optimizers by name; `model.optimizer` counts the updates.
        keep: updates whose checkpoints are kept, too.
        notes: a dictionary to keep with it, as JSON.

    Returns:
        `Saved`.
    """
    begin = time.perf_counter()
    update = model.update
    check_finite(model, update)
    directory = pathlib.Path(directory)
    path = directory / f"{update:06d}"
    temporary = directory / f".writing-{update:06d}"
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        state = tf.train.Checkpoint(**items(model), notes=_Notes(notes or {}))
        state.write(str(temporary / "state"))
        for file in temporary.iterdir():
            to_disk(file)
        if path.exists():  # of the same update
            _remove(path)
        os.rename(temporary, path)
        to_disk(directory)
    except (OSError, tf.errors.OpError) as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise _not_written(path, error, latest(directory)) from None
    for old in _all(directory)[:-KEEP]:
        if int(old.name) not in keep:
            _remove(old)
    return Saved(path, time.perf_counter() - begin, _megabytes(path))


def latest(directory):
    """The newest checkpoint of a `checkpoints` directory, or None."""
    return next(reversed(_all(pathlib.Path(directory))), None)


def updates(directory):
    """The updates of all checkpoints of a directory, in order."""
    return [int(path.name) for path in _all(pathlib.Path(directory))]


def notes(path):
    """The notes saved with the state at `path`; None in an old version's."""
    reader = tf.train.load_checkpoint(str(pathlib.Path(path) / "state"))
    if not reader.has_tensor(_NOTES):
        return None
    return json.loads(reader.get_tensor(_NOTES))


def restore(path, model):
    """Puts the state at `path` into a compiled model; returns its update."""
    try:
        held = items(model)
        if notes(path) is not None:
            held["notes"] = _Notes({})
        state = tf.train.Checkpoint(**held)
        state.read(str(pathlib.Path(path) / "state")).assert_consumed()
    except Exception as error:  # a damaged file raises all kinds of them
        raise UserError(f"cannot restore {path}: {reason(error)}") from None
    return model.update


def recover(directory, model):
    """Restores the newest checkpoint that can be read.

    Returns:
        Its path, or None where there is no checkpoint at all. `UserError`
        where there are some, but none can be read.
    """
    failure = None
    for path in reversed(_all(pathlib.Path(directory))):
        try:
            restore(path, model)
            return path
        except UserError as error:
            failure = error
            print(f"warning: {error}", file=sys.stderr)
    if failure:
        raise UserError(
            f"{failure}, and there is none before it that can be read. Without "
            f"{directory} the run begins anew, and ends in the same bits"
        )
    return None


def discard_after(directory, update):
    """Removes checkpoints later than `update`: they could not be read."""
    for path in _all(pathlib.Path(directory)):
        if int(path.name) > update:
            _remove(path)


def sweep(directory):
    """Removes what a process that was killed left half written or removed."""
    for path in pathlib.Path(directory).glob(".*-[0-9]*"):
        shutil.rmtree(path)


def items(model):
    """What a checkpoint of a model holds, by name."""
    return model.checkpoint_items()


def check_finite(model, update):
    """Raises `NonFiniteError` where what is to be saved is not finite."""
    for item in items(model).values():
        for variable in item.variables:
            if not np.isfinite(variable.numpy()).all():
                name = getattr(variable, "path", variable.name)
                raise NonFiniteError(f"update {update}: {name} is not finite")


def _all(directory):
    found = directory.iterdir() if directory.is_dir() else ()
    return sorted(
        (p for p in found if p.name.isdigit()), key=lambda p: int(p.name)
    )


def _remove(path):
    # Never half there under its name: a kill may come at any moment.
    hidden = path.with_name(f".old-{path.name}")
    shutil.rmtree(hidden, ignore_errors=True)
    os.rename(path, hidden)
    shutil.rmtree(hidden)


def to_disk(path):
    """Waits until a file, or a directory's entries, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _not_written(path, error, last):
    kept = f"{last} is kept" if last else "there is none before it"
    return UserError(
        f"cannot write checkpoint {path} ({reason(error)}); {kept}. "
        + WHAT_TO_DO
    )


def _megabytes(path):
    return sum(file.stat().st_size for file in path.iterdir()) / 1e6

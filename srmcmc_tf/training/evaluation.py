"""Evaluation while training: values in TensorBoard, the best one kept."""

import json
import os
import pathlib

import keras
import tensorflow as tf
from tqdm import tqdm

from srmcmc_tf.evaluation import measure
from srmcmc_tf.runs import checkpoints, tensorboard


class Evaluate(keras.callbacks.Callback):
    """Measures the model every so many updates and keeps the best.

    RUN/evaluations.json has the records of each evaluated update, RUN/best
    the checkpoint of the one with the lowest value, and of the best before
    it, should the guard take the run back behind the newer one. A run that
    goes on takes up the evaluation that it stopped in, and ends with the same
    of both.

    Args:
        workdir: the run directory.
        measure: (model, stop) to records by name, or None where `stop()` was
            true; see `evaluate.while_training`.
        by: the name whose lowest value is the best.
        every: updates between two evaluations.
        stop: a function that says whether the run is to end.
    """

    def __init__(self, workdir, measure, by, *, every, stop=None):
        super().__init__()
        self.workdir = pathlib.Path(workdir)
        self.measure = measure
        self.by = by
        self.every = every
        self.stop = stop or (lambda: False)

    def on_train_begin(self, logs=None):
        self.go_on()

    def on_train_batch_end(self, batch, logs=None):
        self._evaluate(self.model.update)

    def go_on(self):
        """Makes up for an evaluation that the run was stopped in."""
        start = self.model.update
        stored = _load(self.workdir / "evaluations.json")
        self.evaluated = {u: r for u, r in stored.items() if u <= start}
        if len(self.evaluated) < len(stored):
            _save(self.workdir / "evaluations.json", self.evaluated)
        checkpoints.sweep(self.workdir / "best")
        checkpoints.discard_after(self.workdir / "best", start)
        if start and start not in self.evaluated:
            self._evaluate(start)

    def _evaluate(self, update):
        if update % self.every:
            return
        with self.model.averaged():
            found = self.measure(self.model, self.stop)
        if found is None:
            return
        best = self._beats_best(found)
        if best:  # before it is noted down: a crash between does no harm
            checkpoints.save(self.workdir / "best", self.model)
        self.evaluated[update] = found
        _save(self.workdir / "evaluations.json", self.evaluated)
        self._show(update, found)
        note = ", the best so far" if best else ""
        tqdm.write(f"evaluation of update {update:,}{note}:")
        for name, record in found.items():
            tqdm.write(f"  {measure.tell(name, record)}")

    def _beats_best(self, found):
        kept = checkpoints.updates(self.workdir / "best")
        known = [self.evaluated[u] for u in kept if u in self.evaluated]
        value = found[self.by]["value"]
        return all(value < record[self.by]["value"] for record in known)

    def _show(self, update, found):
        with tensorboard.once(self.workdir / "tensorboard", update):
            for name, record in found.items():
                if record["value"] is not None:
                    tf.summary.scalar(
                        f"evaluate/{name}",
                        record["value"],
                        description=measure.tell(name, record),
                    )


def _load(path):
    """The records by update; none where the file is missing or broken."""
    try:
        return {int(u): r for u, r in json.loads(path.read_text()).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _save(path, evaluated):
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(evaluated, indent=2) + "\n")
    os.replace(temporary, path)

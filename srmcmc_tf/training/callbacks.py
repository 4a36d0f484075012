"""What happens beside the updates: logs, pictures, checkpoints, stops.

They work in any `fit` of a `ShortRunEBM`; `train.train` uses them all, in the
order of this file.
"""

import io
import json
import math
import pathlib
import signal
import sys
import threading
import time

import keras
import tensorflow as tf
from tqdm import tqdm

from srmcmc_tf import plots
from srmcmc_tf.distribution import strategies
from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.evaluation import toy_density
from srmcmc_tf.runs import checkpoints, tensorboard
from srmcmc_tf.runs import run as runs


class _Callback(keras.callbacks.Callback):
    """Calls `on_update(update, logs)` with the update's number and floats."""

    def on_train_batch_end(self, batch, logs=None):
        logs = {name: float(value) for name, value in (logs or {}).items()}
        self.on_update(self.model.update, logs)


class StopOnNonFinite(_Callback):
    """Raises `NonFiniteError` as soon as a quantity is infinite or NaN."""

    def on_update(self, update, logs):
        for name, value in logs.items():
            if not math.isfinite(value):
                raise NonFiniteError(f"update {update}: {name} is {value}")


class Log(_Callback):
    """Writes each update's quantities to TensorBoard and `metrics.jsonl`.

    A run that goes on continues the file after the update it goes on from.

    Args:
        workdir: the run directory.
        every: updates between two logged ones.
        also: function that gives more quantities of the update, by name.
    """

    def __init__(self, workdir, *, every=1, also=dict):
        super().__init__()
        self.workdir = pathlib.Path(workdir)
        self.every = every
        self.also = also

    def on_train_begin(self, logs=None):
        start = self.model.update
        self._writer = tensorboard.Writer(self.workdir / "tensorboard")
        path = self.workdir / "metrics.jsonl"
        runs.cut_after(path, start)
        self._file = open(path, "a", buffering=1)
        self._last = start, time.perf_counter()

    def on_update(self, update, logs):
        if update % self.every:
            return
        now = time.perf_counter()
        last, then = self._last
        self._last = update, now
        logs = {**logs, **self.also()}
        logs["updates_per_second"] = (update - last) / (now - then)
        self._file.write(json.dumps({"update": update, **logs}) + "\n")
        with self._writer.at(update):
            for name, value in logs.items():
                tf.summary.scalar(f"train/{name}", value)

    def on_train_end(self, logs=None):
        self._file.close()
        self._writer.close()


class Pictures(_Callback):
    """Draws samples of fixed seeds, as PNG and in TensorBoard.

    Args:
        workdir: the run directory; PNGs go to `samples/`.
        every: updates between two pictures; there is one at the end, too.
        n: chains a picture.
        data: uint8 images, shown once beside the starts of the chains.
    """

    def __init__(self, workdir, *, every=500, n=64, data=None):
        super().__init__()
        self.workdir = pathlib.Path(workdir)
        self.every = every
        self.n = n
        self.data = data
        self.newest = None

    def on_train_begin(self, logs=None):
        (self.workdir / "samples").mkdir(parents=True, exist_ok=True)
        self._writer = tensorboard.Writer(self.workdir / "tensorboard")
        if not self.model.update:
            self._begin()

    def on_update(self, update, logs):
        if update % self.every == 0:
            self._draw(update)

    def on_train_end(self, logs=None):
        if not self.model.stop_training:  # who stops a run is in a hurry
            self._draw(self.model.update)
        self._writer.close()

    def _begin(self):
        starts = self.model.start(range(self.n))
        if starts.shape[1:] == self.model.image_shape:
            self._show("starts", starts, 0)
        if self.data is not None:
            self._show("data", self.data[: self.n] / 127.5 - 1.0, 0)

    def _draw(self, update):
        path = self.workdir / "samples" / f"{update:06d}.png"
        if path != self.newest:
            with self.model.averaged():
                self._picture(path, update)
            self.newest = path

    def _picture(self, path, update):
        x = self.model.sample(range(self.n))
        plots.save_grid(path, x)
        self._show("samples", x, update)

    def _show(self, name, x, update):
        with self._writer.at(update):
            tf.summary.image(f"pictures/{name}", plots.grid(x)[tf.newaxis])


class Densities(Pictures):
    """Draws what was learned of a toy, with its numbers.

    Beside each PNG stands a JSON of `toy_density.measure`, as in TensorBoard.

    Args:
        workdir: the run directory; both go to `samples/`.
        toy: the `Toy`.
        every: updates between two figures; there is one at the end, too.
    """

    def __init__(self, workdir, toy, *, every=500):
        super().__init__(workdir, every=every)
        self.toy = toy

    def _begin(self):
        """Shows nothing: points make no grid."""

    def _picture(self, path, update):
        found = toy_density.of(self.model, self.toy)
        numbers = toy_density.measure(found)
        text = json.dumps({"update": update, **numbers}, indent=2) + "\n"
        path.with_suffix(".json").write_text(text)
        picture = plots.densities(found, numbers)
        plots.save(path, picture)
        with self._writer.at(update):
            tf.summary.image("pictures/densities", picture[tf.newaxis])
            for name, value in numbers.items():
                tf.summary.scalar(f"toy/{name}", value)


class Checkpoints(_Callback):
    """Saves the state every so many updates, and at the end.

    Args:
        workdir: the run directory.
        every: updates between two checkpoints.
        save: what saves, as `checkpoints.save` does.
    """

    def __init__(self, workdir, *, every=500, save=checkpoints.save):
        super().__init__()
        self.directory = pathlib.Path(workdir) / "checkpoints"
        self.every = every
        self.save = save
        self.saved = []

    def on_train_begin(self, logs=None):
        self.directory.mkdir(parents=True, exist_ok=True)
        checkpoints.sweep(self.directory)
        newest = checkpoints.latest(self.directory)
        start = self.model.update
        if newest and int(newest.name) > start:
            raise UserError(
                f"{newest} is later than update {start}, where this model "
                "stands: restore it, or save to another directory"
            )

    def on_update(self, update, logs):
        if update % self.every == 0:
            self._save()

    def on_train_end(self, logs=None):
        update = self.model.update
        if update not in checkpoints.updates(self.directory):
            self._save()

    def _save(self):
        self.saved.append(self.save(self.directory, self.model))


class StopOnSignal(keras.callbacks.Callback):
    """Ends `fit` after the current update on SIGTERM, SIGHUP or Ctrl-C.

    One worker of several that receives it stops them all at the same update.
    `fit` then ends as it always does, so that the other callbacks save. The
    second Ctrl-C interrupts at once.
    """

    def __init__(self):
        super().__init__()
        self.caught = None  # by this process, at any moment
        self.received = None  # by one of all, as they agreed after an update

    def on_train_begin(self, logs=None):
        signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        if threading.current_thread() is not threading.main_thread():
            signals = ()  # as in a worker of Ray: Python allows none there
        self._before = {s: signal.signal(s, self._receive) for s in signals}

    def on_train_batch_end(self, batch, logs=None):
        self.agree(self.model.distribute_strategy)
        if self.received:
            self.model.stop_training = True

    def agree(self, strategy):
        """Lets all workers know what one received; all must call it."""
        received = strategies.maximum_over_workers(strategy, self.caught or 0)
        if received:
            self.received = signal.Signals(received)

    def on_train_end(self, logs=None):
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number, frame):
        self.caught = signal.Signals(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        tqdm.write(f"{self.caught.name}: saving after this update", sys.stderr)


class Progress(_Callback):
    """A progress bar on a terminal, a line every 10 seconds elsewhere.

    Args:
        updates: the last update of the run.
        saves: the `Checkpoints` whose cost is shown.
    """

    def __init__(self, updates, saves):
        super().__init__()
        self.updates = updates
        self.saves = saves

    def on_train_begin(self, logs=None):
        self._bar = tqdm(
            total=self.updates,
            initial=self.model.update,
            unit=" updates",
            dynamic_ncols=True,
            file=sys.stderr if sys.stderr.isatty() else io.StringIO(),
        )
        self._printed = time.perf_counter()

    def on_update(self, update, logs):
        shown = {name: f"{value:.3g}" for name, value in logs.items()}
        if self.saves.saved:
            last = self.saves.saved[-1]
            shown["checkpoint"] = f"{last.megabytes:.1f}MB/{last.seconds:.2f}s"
        self._bar.set_postfix(shown, refresh=False)
        self._bar.update()
        now = time.perf_counter()
        if not sys.stderr.isatty() and now - self._printed > 10:
            print(self._bar, file=sys.stderr, flush=True)
            self._printed = now

    def on_train_end(self, logs=None):
        self._bar.close()

"""Pictures of what the model generates, drawn during training."""

import os
from typing import Any

import numpy as np
import tensorflow as tf

from srmcmc_tf import plots
from srmcmc_tf.data import pixels
from srmcmc_tf.data.toys import Toy
from srmcmc_tf.evaluation import toy_density
from srmcmc_tf.files import atomic
from srmcmc_tf.runs import tensorboard
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training.callbacks.base import UpdateCallback


class Pictures(UpdateCallback):
    """Draws samples of fixed seeds, as PNG and in TensorBoard.

    Images make a grid, points of 1 or 2 coordinates a plot. A conditional
    model of images gets a row per class, with the same seeds in each.

    Args:
        directory: the run directory; PNGs go to `samples/`.
        every: updates between two pictures; there is one at the end, too.
        n: chains per picture.
        data: uint8 images, shown once next to the starts of the chains.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        every: int = 500,
        n: int = 64,
        data: np.ndarray | None = None,
    ) -> None:
        super().__init__()
        self.run = Run(directory)
        self.every = every
        self.n = n
        self.data = data
        self._drawn: int | None = None
        self._writer: tensorboard.Writer | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        shape = self.model.image_shape
        if len(shape) != 3 and shape not in ((1,), (2,)):
            raise ValueError(
                f"Pictures: cannot draw samples of shape {shape}: only images, "
                "and points of 1 or 2 coordinates"
            )
        self.run.picture(0).parent.mkdir(parents=True, exist_ok=True)
        self._writer = tensorboard.Writer(self.run.tensorboard_directory)
        if not self.model.update:
            self._begin()

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        if update % self.every == 0:
            self._draw(update)

    def on_train_end(self, logs: Any = None) -> None:
        if not self.model.stop_training:  # exits quickly on a signal
            self._draw(self.model.update)
        super().on_train_end(logs)

    def on_rollback(self) -> None:
        super().on_rollback()
        self._drawn = None

    def close(self) -> None:
        if self._writer:
            self._writer.close()
        self._writer = None

    def _begin(self) -> None:
        if len(self.model.image_shape) != 3:
            return
        starts = self.model.start(range(self.n))
        if starts.shape[1:] == self.model.image_shape:
            self._show("starts", plots.grid(starts), 0)
        if self.data is not None:
            data = pixels.to_float(self.data[: self.n])
            self._show("data", plots.grid(data), 0)

    def _draw(self, update: int) -> None:
        if update != self._drawn:
            with self.model.averaged():
                self._picture(update)
            self._drawn = update

    def _picture(self, update: int) -> None:
        x, columns = self._sample()
        path = self.run.picture(update)
        if x.ndim == 4:
            plots.save_grid(path, x, columns)
            self._show("samples", plots.grid(x, columns), update)
        else:
            picture = plots.points(x[None], [f"update {update:,}"])
            plots.save(path, picture)
            self._show("samples", picture, update)

    def _sample(self) -> tuple[np.ndarray, int | None]:
        """The samples, and how many make a row if that matters."""
        model = self.model
        if not model.n_classes or len(model.image_shape) != 3:
            return np.asarray(model.sample(range(self.n))), None
        rows = min(model.n_classes, self.n)
        columns = self.n // rows
        seeds, labels = np.tile(range(columns), rows), np.arange(rows)
        x = model.sample(seeds, labels=labels.repeat(columns))
        return np.asarray(x), columns

    def _show(self, name: str, picture: np.ndarray, update: int) -> None:
        assert self._writer  # opened by on_train_begin
        with self._writer.at(update):
            tf.summary.image(f"pictures/{name}", picture[tf.newaxis])


class ToyFigures(Pictures):
    """Draws what was learned of a toy, with its numbers.

    Next to each PNG is a JSON of `toy_density.measure`; TensorBoard has both.

    Args:
        directory: the run directory; both go to `samples/`.
        toy: the `Toy`.
        every: updates between two figures; there is one at the end, too.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        toy: Toy,
        *,
        every: int = 500,
    ) -> None:
        super().__init__(directory, every=every)
        self.toy = toy

    def _picture(self, update: int) -> None:
        found = toy_density.estimate(self.model, self.toy)
        numbers = toy_density.measure(found)
        path = self.run.picture(update)
        values = {"update": update, **numbers}
        atomic.write_json(path.with_suffix(".json"), values)
        picture = plots.densities(found, numbers)
        plots.save(path, picture)
        assert self._writer  # opened by on_train_begin
        self._show("densities", picture, update)
        with self._writer.at(update):
            for name, value in numbers.items():
                tensorboard.scalar(f"toy/{name}", value)

"""The runs of a table as a sweep in TensorBoard's HParams tab."""

import pathlib
from collections.abc import Iterable, Mapping

from tensorboard.plugins.hparams import api as hparams

from srmcmc_tf.runs import tensorboard
from srmcmc_tf.runs.run import Run

_SETTINGS = ("dataset", "model", "K", "sigma", "n_f")


def log(run: Run, update: int, values: Mapping[str, float | None]) -> None:
    """Writes the measurements of a run next to its other scalars."""
    with tensorboard.once(run.tensorboard_directory, update):
        for name, value in values.items():
            if value is not None:
                tensorboard.scalar(f"evaluate/{name}", value)


def describe(directory: pathlib.Path, metrics: Iterable[str]) -> None:
    """Declares the settings and the metrics that are columns of the tab.

    TensorBoard keeps the first declaration, so it always lists all of them.

    Args:
        directory: of all runs, TensorBoard's --logdir.
        metrics: the names of all metrics.
    """
    with tensorboard.once(directory, 0):
        hparams.hparams_config(
            hparams=[hparams.HParam(name) for name in _SETTINGS],
            metrics=[
                hparams.Metric(f"evaluate/{name}", display_name=name)
                for name in metrics
            ],
        )

"""A table's runs as a sweep, for TensorBoard's HParams tab."""

import pathlib

import tensorflow as tf
from tensorboard.plugins.hparams import api as hparams

from srmcmc_tf.runs import tensorboard


def log(workdir, update, values):
    """Writes what was measured of a run beside its other scalars."""
    with tensorboard.once(pathlib.Path(workdir, "tensorboard"), update):
        for name, value in values.items():
            if value is not None:
                tf.summary.scalar(f"evaluate/{name}", value)


def describe(runs, metrics):
    """Tells which settings and values are the columns of the tab.

    TensorBoard keeps to what it is told first: so these are always all.

    Args:
        runs: the directory of all runs, TensorBoard's --logdir.
        metrics: the names of all values.
    """
    settings = ("dataset", "model", "K", "sigma", "n_f")
    with tensorboard.once(pathlib.Path(runs), 0):
        hparams.hparams_config(
            hparams=[hparams.HParam(name) for name in settings],
            metrics=[
                hparams.Metric(f"evaluate/{name}", display_name=name)
                for name in metrics
            ],
        )

"""A table's runs as a sweep, for TensorBoard's HParams tab."""

import pathlib

import tensorflow as tf
from tensorboard.plugins.hparams import api as hparams


def log(workdir, update, values):
    """Writes what was measured of a run beside its other scalars."""
    directory = str(pathlib.Path(workdir) / "tensorboard")
    writer = tf.summary.create_file_writer(directory)
    with writer.as_default(step=update):
        for name, value in values.items():
            if value is not None:
                tf.summary.scalar(f"evaluate/{name}", value)
    writer.close()


def describe(runs, table, rows):
    """Tells which settings and values are the columns of the tab.

    Args:
        runs: the directory of all runs, TensorBoard's --logdir.
        table: an `experiments.Table`.
        rows: of the table, as `report.write` takes them.
    """
    names = {name for row in rows for name in row["ours"]}
    settings = dict.fromkeys(["dataset", "model", "K", "sigma", "n_f"])
    settings[table.varied] = None
    writer = tf.summary.create_file_writer(str(runs))
    with writer.as_default(step=0):
        hparams.hparams_config(
            hparams=[hparams.HParam(name) for name in settings],
            metrics=[
                hparams.Metric(f"evaluate/{name}", display_name=name)
                for name in sorted(names)
            ],
        )
    writer.close()

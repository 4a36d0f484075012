"""What a run reports about itself, at its start and at its end."""

import dataclasses
import logging
import math
import os
import sys
from collections.abc import Sequence

import keras
import tensorflow as tf
from tensorboard.plugins.hparams import api as hparams

from srmcmc_tf.config.config import Config
from srmcmc_tf.data.examples import Examples
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.models.schedules import AutoSigma
from srmcmc_tf.runs import tensorboard
from srmcmc_tf.runs.checkpoints import Saved
from srmcmc_tf.runs.run import Run

logger = logging.getLogger(__name__)


def log_config(run: Run, config: Config) -> None:
    """Writes the config to TensorBoard, as text and as hyperparameters."""
    values = dataclasses.asdict(config)
    table = "\n".join(f"| {k} | {v} |" for k, v in values.items())
    with tensorboard.once(run.tensorboard_directory, 0):
        tf.summary.text("config", f"| setting | value |\n|---|---|\n{table}")
        hparams.hparams(values, trial_id=run.path.name)


def examples(found: Examples) -> str:
    """Describes how many examples there are, what they are, and their size."""
    sizes = found.observed.shape[1:]
    kind = "images of " + "x".join(map(str, sizes))
    if len(sizes) == 1:
        kind = f"points of {sizes[0]} coordinate{'s' * (sizes[0] != 1)}"
    return (
        f"{len(found.observed):,} observed and {len(found.left_out):,} "
        f"left-out {kind}"
    )


def weights(model: Generator) -> str:
    """Describes how many weights are learned, in all and in each network."""
    networks = {
        name: sum(math.prod(w.shape) for w in item.trainable_variables)
        for name, item in model.checkpoint_items().items()
        if isinstance(item, keras.Model)
    }
    each = ", ".join(f"{name} {n:,}" for name, n in networks.items())
    return f"{sum(networks.values()):,} weights ({each})"


def summarize(
    run: Run,
    config: Config,
    update: int,
    start: int,
    seconds: float,
    saved: Sequence[Saved],
) -> None:
    """Logs where a run stands, what it cost and where its files are.

    Args:
        run: the run.
        config: its settings.
        update: the number of its last update.
        start: the update that this call started from.
        seconds: that the updates since then took.
        saved: the checkpoints of this call.
    """
    cost = ""
    if saved:
        last = max(saved, key=lambda save: save.seconds)
        cost = (
            f" ({last.megabytes:.1f} MB, saved in at most {last.seconds:.2f} s)"
        )
    done = update - start
    lines = []
    if done:
        rate = f"{done / seconds:.2f} per second"
        lines.append(f"{done:,} updates in {seconds:,.0f} s, {rate}")
    lines.append(f"update {update:,} of {config.updates:,}")
    if pictures := run.pictures():
        lines.append(f"  pictures    {pictures[-1]}")
    lines.append(f"  checkpoint  {run.checkpoints.latest()}{cost}")
    if best := run.best.latest():
        lines.append(f"  best        {best}")
    # The one of this environment, which need not be on the PATH.
    command = os.path.relpath(f"{sys.prefix}/bin/tensorboard")
    lines.append(
        f"  logs        {command} --logdir={run.tensorboard_directory}"
    )
    if update < config.updates:
        path = os.path.relpath(run.path)
        lines.append(f"  resume with bin/train --workdir={path}")
    logger.info("\n".join(lines))


def summarize_sigma(sigma: float) -> None:
    """Logs the final sigma of `--sigma=auto`."""
    logger.info("  sigma       %.4f, from %s on", sigma, AutoSigma.START)

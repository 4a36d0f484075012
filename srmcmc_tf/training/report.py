"""What a run tells about itself, at its start and at its end."""

import dataclasses
import math
import os
import sys

import keras
import tensorflow as tf
from tensorboard.plugins.hparams import api as hparams

from srmcmc_tf.runs import checkpoints, tensorboard


def describe(workdir, config):
    """The config as text and as hyperparameters, for TensorBoard."""
    values = dataclasses.asdict(config)
    table = "\n".join(f"| {k} | {v} |" for k, v in values.items())
    with tensorboard.once(workdir / "tensorboard", 0):
        tf.summary.text("config", f"| setting | value |\n|---|---|\n{table}")
        hparams.hparams(values, trial_id=workdir.name)


def examples(images):
    """How many examples there are, what they are, and their size."""
    sizes = images.observed.shape[1:]
    kind = "images of " + "x".join(map(str, sizes))
    if len(sizes) == 1:
        kind = f"points of {sizes[0]} coordinate{'s' * (sizes[0] != 1)}"
    return (
        f"{len(images.observed):,} observed and {len(images.left_out):,} "
        f"left-out {kind}"
    )


def weights(model):
    """How many weights are learned, in all and in each network."""
    networks = {
        name: sum(math.prod(w.shape) for w in item.trainable_variables)
        for name, item in model.checkpoint_items().items()
        if isinstance(item, keras.Model)
    }
    each = ", ".join(f"{name} {n:,}" for name, n in networks.items())
    return f"{sum(networks.values()):,} weights ({each})"


def report(workdir, config, update, done, seconds, saved):
    """Prints where a run stands, what it cost and where all of it lies.

    Args:
        workdir: the run directory.
        config: its `Config`.
        update: the number of its last update.
        done: how many were made by this call.
        seconds: that they took.
        saved: `checkpoints.Saved` of this call.
    """
    cost = ""
    if saved:
        last = max(saved, key=lambda save: save.seconds)
        cost = f" ({last.megabytes:.1f} MB, {last.seconds:.2f} s at the most)"
    newest = checkpoints.latest(workdir / "checkpoints")
    pictures = sorted(
        (workdir / "samples").glob("*.png"), key=lambda path: int(path.stem)
    )
    logs = workdir / "tensorboard"
    # Of this environment, which need not be on the PATH.
    tensorboard = os.path.relpath(f"{sys.prefix}/bin/tensorboard")
    if done:
        rate = f"{done / seconds:.2f} a second"
        print(f"{done:,} updates in {seconds:,.0f} s, {rate}")
    print(f"update {update:,} of {config.updates:,}")
    if pictures:
        print(f"  pictures    {pictures[-1]}")
    print(f"  checkpoint  {newest}{cost}")
    best = checkpoints.latest(workdir / "best")
    if best:
        print(f"  best        {best}")
    print(f"  logs        {tensorboard} --logdir={logs}")
    if update < config.updates:
        print(f"  go on with  bin/train --workdir={os.path.relpath(workdir)}")

"""The model of a run, as its newest or its best checkpoint left it."""

import pathlib
import sys

from srmcmc_tf.distribution import strategies
from srmcmc_tf.errors import UserError
from srmcmc_tf.models import factory
from srmcmc_tf.runs import checkpoints
from srmcmc_tf.runs import run as runs


def load(workdir, best=False, strategy=None):
    """The compiled model of a run and its config.

    Args:
        workdir: a run directory.
        best: takes the checkpoint of the best evaluation while training, not
            the newest.
        strategy: as of `strategies.local`; by default the run's.

    Returns:
        The run's model and its `Config`; `UserError` where there is no run, or
        none with a checkpoint. A run that is not finished is told of. The
        weights are the averaged ones where the run kept an average.
    """
    config = runs.require(workdir)
    with strategies.local(strategy or config.strategy).scope():
        model = factory.build(config)
        directory = pathlib.Path(workdir, "best" if best else "checkpoints")
        found = checkpoints.recover(directory, model)
    if found is None and best:
        raise UserError(f"{workdir} has no best: train with --evaluate_every")
    if found is None:
        raise UserError(
            f"{workdir} has no checkpoint yet: bin/train --workdir={workdir}"
        )
    model.use_average()
    if model.update < config.updates and not best:
        where = f"update {model.update:,} of {config.updates:,}"
        text = f"{workdir} stands at {where}"
        print(text, file=sys.stderr)
    return model, config

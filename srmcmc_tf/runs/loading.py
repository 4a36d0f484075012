"""Trained models: of a run directory, a `.keras` file, or a preset."""

import functools
import logging
import os
import pathlib

import keras

from srmcmc_tf.distribution import strategies
from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.models import factory
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.runs import checkpoints, examples, preset
from srmcmc_tf.runs.run import Run

logger = logging.getLogger(__name__)


def load(path: str | os.PathLike[str], *, best: bool = False) -> Generator:
    """Loads the model of a run, one that `model.save` wrote, or a preset.

    Args:
        path: a run directory, a `.keras` file, or "preset:NAME" for a trained
            model of the package (docs/presets.md).
        best: takes the checkpoint of the best evaluation during training
            (`--evaluate_every`) instead of the newest one; runs only.

    Returns:
        The compiled model, a `ShortRunEBM` or one of the baselines. `UserError`
        where there is none.

    Examples:

    >>> model = load("runs/digits")
    >>> model.sample(seeds=range(64)).shape
    TensorShape([64, 8, 8, 1])
    """
    if str(path).startswith(preset.PREFIX):
        return preset.parse(str(path)).load_model(best=best)
    if pathlib.Path(path).suffix == ".keras":
        return load_file(path, best=best)
    if str(path) in preset.names() and not os.path.exists(path):
        raise UserError(f"{path} is a preset: load('{preset.PREFIX}{path}')")
    return Run(path).load_model(best=best)


def load_file(
    path: str | os.PathLike[str],
    *,
    best: bool = False,
    strategy: str | None = None,
) -> Generator:
    """Loads what `model.save` wrote.

    Args:
        path: a `.keras` file.
        best: of `load`; `UserError`, because a file holds one model.
        strategy: as of `strategies.local`; by default "auto".

    Returns:
        The compiled model; `UserError` where the file holds none of ours.
    """
    if best:
        raise UserError(f"{path} is a single model: `best` is for runs")
    try:
        with strategies.local(strategy or "auto").scope():
            model = keras.saving.load_model(path)
    except Exception as error:  # a damaged file raises all kinds of them
        line = (str(error).strip() or repr(error)).splitlines()[0]
        raise UserError(f"cannot load {path}: {line}") from None
    if not isinstance(model, Generator):
        raise UserError(
            f"{path} holds a {type(model).__name__}, not a model of "
            "srmcmc_tf: load it with keras.saving.load_model"
        )
    try:
        checkpoints.check_finite(model)
    except NonFiniteError as error:
        raise NonFiniteError(f"{path}: {error}") from None
    return model


def load_run(
    run: Run, *, best: bool = False, strategy: str | None = None
) -> Generator:
    """Loads the model of a run.

    A warning is logged if the run is not finished. The weights are the
    averaged ones where the run keeps an average.

    Args:
        run: the run.
        best: takes the best checkpoint, not the newest.
        strategy: as of `strategies.local`; by default the run's.

    Returns:
        The compiled model. `UserError` where there is no run, or none with a
        checkpoint.
    """
    config = run.config
    with strategies.local(strategy or config.strategy).scope():
        model = factory.build(config)
        directory = run.best if best else run.checkpoints
        found = directory.restore_newest(model)
    if found is None and best:
        raise UserError(
            f"{run} has no best checkpoint: train with --evaluate_every"
        )
    if found is None:
        raise UserError(
            f"{run} has no checkpoint yet: bin/train --workdir={run}"
        )
    model.use_average()
    if isinstance(model, ShortRunEBM):  # read only if chains need them
        model.starting.images = functools.partial(examples.load_starts, run)
    if model.update < config.updates and not best:
        logger.warning(
            "%s is at update %s of %s",
            run,
            f"{model.update:,}",
            f"{config.updates:,}",
        )
    return model

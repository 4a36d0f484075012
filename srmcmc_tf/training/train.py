"""Training from a config: the one entry behind `bin/train`.

What is restored when a run resumes, and from where:
1. the settings, from RUN/config.json (only `updates` may grow);
2. the images, read again; their digest must be that of config.json;
3. weights, their average, optimizer, update number and the state of the guard,
   from the newest checkpoint (by the chief where there are several workers,
   which receive them from it);
4. the branch of the seed and the least sigma, from the interventions;
5. the order of the data and all noise, from (seed, update): nothing is stored;
6. logged metrics and evaluations, cut off after the update of that checkpoint.
A run that the guard rolls back resumes the same way.
"""

import contextlib
import dataclasses
import functools
import logging
import os
import signal
from collections.abc import Callable, Iterator

import numpy as np
import tensorflow as tf

from srmcmc_tf import errors
from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples, start_images
from srmcmc_tf.data.examples import Examples
from srmcmc_tf.distribution import cluster, strategies
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import paths
from srmcmc_tf.models import precision
from srmcmc_tf.models.divergence import Divergence
from srmcmc_tf.runs import examples as run_examples
from srmcmc_tf.runs.run import MACHINE_SETTINGS, Run
from srmcmc_tf.training import chief, report, worker
from srmcmc_tf.training.callbacks.stop import StopOnSignal
from srmcmc_tf.training.session import Session

logger = logging.getLogger(__name__)


def train(
    config: Config, directory: str | os.PathLike[str]
) -> signal.Signals | None:
    """Trains in a run directory, from where it stands to `config.updates`.

    Args:
        config: the settings.
        directory: the run directory, made where it is missing. Of several
            workers only the chief uses it.

    Returns:
        The signal that ended the run early, or None.
    """
    tf.config.experimental.enable_op_determinism()
    team = cluster.from_environment(config.strategy)
    with strategies.report_lost_workers(team), _memory_errors_explained():
        if team is None or team.is_chief:
            with Run(directory).lock() as run:
                return _as_chief(config, run)
        return _as_worker(config)


@contextlib.contextmanager
def _memory_errors_explained() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not errors.is_out_of_memory(error):
            raise
        raise UserError(
            f"out of memory ({errors.reason(error)}); use a smaller "
            "--batch_size, --n_f or --image_size, in another --workdir"
        ) from None


def _as_chief(config: Config, run: Run) -> signal.Signals | None:
    session, found, digest = _prepare(config)
    logger.info("%s: %s", config.dataset, report.examples(found))
    _check_records(run)
    run.save_config(session.config, digest)
    attempt = functools.partial(chief.attempt, session, run)
    return _attempts(session, digest, attempt)


def _check_records(run: Run) -> None:
    """Raises if what a run continues is damaged, before anything changes."""
    run.interventions.up_to(0)
    run.evaluations.read()
    try:
        if run.metrics_file.exists():
            paths.regular(run.metrics_file)
    except ValueError as error:
        raise UserError(f"{run.metrics_file}: {error}; remove it") from None


def _as_worker(config: Config) -> signal.Signals | None:
    session, _, digest = _prepare(config)
    attempt = functools.partial(worker.attempt, session)
    return _attempts(session, digest, attempt)


def _prepare(config: Config) -> tuple[Session, Examples, str]:
    precision.check(config.precision)
    strategy = strategies.create(config.strategy, config.batch_size)
    found = examples.load(config)
    config, labels = _classes(config, found)
    starts = start_images.load(config, found)
    digest = run_examples.digest(config, found, starts)
    stop = StopOnSignal()
    session = Session(config, found.observed, strategy, stop, starts, labels)
    return session, found, digest


def _classes(
    config: Config, found: Examples
) -> tuple[Config, np.ndarray | None]:
    """The config with the number of classes, and the labels, if needed."""
    if config.conditional == "off":
        return config, None
    if found.labels is None:
        folder = "; put the images of each class into a folder of its own"
        raise UserError(
            f"--conditional: {config.dataset} has no labels"
            f"{folder if config.dataset == 'folder' else ''}"
        )
    labels, n = found.labels.observed, len(found.labels.names)
    if config.classes not in (0, n):
        raise UserError(
            f"--classes={config.classes}: {config.dataset} has {n:,} classes"
        )
    if n < 2 or labels.min() < 0 or labels.max() >= n:
        raise UserError(
            f"--conditional: {config.dataset} has labels from {labels.min()} "
            f"to {labels.max()} of {n} classes"
        )
    return dataclasses.replace(config, classes=n), labels


def _attempts(
    session: Session, digest: str, attempt: Callable[[], None]
) -> signal.Signals | None:
    """Repeats an attempt until none diverges; returns a received signal."""
    config, strategy, stop = session.config, session.strategy, session.stop
    values = dataclasses.asdict(config) | dict.fromkeys(MACHINE_SETTINGS)
    strategies.require_same(strategy, f"{values} {digest}")
    while not stop.received:
        try:
            attempt()
            break
        except Divergence:  # rolled back: the next attempt resumes
            stop.agree(strategy)
    return stop.received

"""What chief and workers share: the updates of one attempt."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import pipeline
from srmcmc_tf.distribution import strategies
from srmcmc_tf.models import factory
from srmcmc_tf.models.ema import UpdateAverage
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.training.callbacks.stop import StopOnNonFinite, StopOnSignal
from srmcmc_tf.training.guard import rollback
from srmcmc_tf.training.guard.judge import Judge
from srmcmc_tf.training.guard.rollback import Branch


class Session(NamedTuple):
    """What stays the same when a run is rolled back and resumed.

    Attributes:
        config: the settings.
        observed: the examples, as of `data.Examples`.
        strategy: the devices.
        stop: ends the run on a signal.
        starts: images that chains start from, if they need any.
        labels: of the examples, if the model is conditional.
    """

    config: Config
    observed: np.ndarray
    strategy: tf.distribute.Strategy
    stop: StopOnSignal
    starts: np.ndarray | None = None
    labels: np.ndarray | None = None


class Restored(NamedTuple):
    """What an attempt restores besides the model's state; JSON-serializable.

    Attributes:
        interventions: those that led to the checkpoint.
        notes: stored with the checkpoint.
    """

    interventions: list[dict[str, Any]]
    notes: dict[str, Any]


def build(session: Session) -> Generator:
    """Builds the model, in the scope of the strategy."""
    model = factory.build(session.config)
    if session.starts is not None:
        model.starting.images = session.starts
    return model


def branch(session: Session, restored: Restored, model: Generator) -> Branch:
    """Sets the model's seed to that of the branch, which it returns."""
    found = rollback.branch(
        session.config, restored.interventions, restored.notes.get("sigma")
    )
    model.set_seed(found.seed)
    if len(found.sigmas) > 1:
        model.set_sigmas(found.sigmas)
    return found


def guard(session: Session, restored: Restored, found: Branch) -> Judge | None:
    """Returns the divergence guard, or None where the config has none."""
    config = session.config
    if config.guard == "off" or not config.kind.has_chain:
        return None
    return Judge(
        found.sigma,
        every=config.checkpoint_every,
        last=config.updates,
        state=restored.notes.get("guard"),
    )


def first(
    config: Config, found: Judge | None
) -> list[keras.callbacks.Callback]:
    """Returns the callbacks that must come first, on every worker."""
    average = [UpdateAverage()] if config.ema else []
    return [*average, found or StopOnNonFinite()]


def fit(
    session: Session,
    model: Generator,
    found: Branch,
    callbacks: Sequence[keras.callbacks.Callback],
) -> None:
    """Makes the remaining updates; all workers return together."""
    config, start = session.config, model.update
    if start >= config.updates:
        return

    def part_of_batches(part: tuple[int, int]) -> tf.data.Dataset:
        return pipeline.endless(
            session.observed,
            session.labels,
            batch_size=config.batch_size,
            # With several stages the model adds the noise, at each size.
            sigma=found.sigma if len(found.sigmas) == 1 else 0.0,
            flip=config.flip == "on",
            seed=found.seed,
            start=start,
            part=part,
        )

    batches = strategies.dataset(
        session.strategy, part_of_batches, config.batch_size
    )
    model.fit(
        batches,
        steps_per_epoch=config.updates - start,
        shuffle=False,
        verbose=0,
        callbacks=list(callbacks),
    )
    strategies.wait(session.strategy)

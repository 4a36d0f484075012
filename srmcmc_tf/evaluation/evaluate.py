"""Evaluates a run, or one set of images against another."""

import os
import pathlib
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from srmcmc_tf.config.config import Config
from srmcmc_tf.distribution import replicas, strategies
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import (
    METRICS,
    N_SAMPLES,
    SET_METRICS,
    classifiers,
    image_sets,
    measure,
    reference,
)
from srmcmc_tf.evaluation.accuracy import accuracy
from srmcmc_tf.evaluation.image_sets import ImageSet
from srmcmc_tf.evaluation.reconstruction import reconstruction_error
from srmcmc_tf.evaluation.records import RecordFile
from srmcmc_tf.evaluation.reference import Reference
from srmcmc_tf.files import digests
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.runs import examples
from srmcmc_tf.runs.evaluations import Records
from srmcmc_tf.runs.run import EVALUATION, Run
from srmcmc_tf.scores.features import inception as inception_network
from srmcmc_tf.scores.features.network import Network

PathLike = str | os.PathLike[str]


def evaluate_run(
    run: Run,
    *,
    best: bool = False,
    out: PathLike | None = None,
    n: int = N_SAMPLES,
    metrics: Sequence[str] = METRICS,
    real: PathLike = "",
    inception: PathLike = "",
    n_mse: int | None = None,
) -> Records:
    """Measures samples of a run's model against its observed examples.

    Args:
        run: the run.
        best: whether to use the best checkpoint instead of the newest.
        out: directory of `evaluation.json`, by default that of the run's
            generated files. Records of the same request in it are not measured
            again, and an interrupted call is resumed.
        n: number of samples, those of the seeds 0 to n - 1.
        metrics: some of `RUN_METRICS`.
        real: images to compare with instead, as for `evaluate_sets`.
        inception: path of Inception's weights, by default the run's own.
        n_mse: number of left-out examples for "mse", by default all.

    Returns:
        A record for each metric, by name.
    """
    config, model = run.config, run.load_model(best=best)
    if "accuracy" in metrics and not model.n_classes:
        raise UserError(
            f"--metrics=accuracy: {run} is not conditional, it has no classes"
        )
    found = examples.load(run)
    observed, left_out = found.observed, found.left_out
    fake = image_sets.from_model(model, n, observed.shape[1:])
    file = RecordFile(run.output_directory(out) / EVALUATION, fake.identity)
    names = []
    compared = [name for name in metrics if name in SET_METRICS]
    if compared:
        network = network_for(fake.shape, inception or config.inception, config)
        target = (
            _target(real, fake, network)
            if real
            else image_sets.from_array(observed, config.dataset, "observed")
        )
        names += _measure_missing(file, fake, network, target, compared)
    if "mse" in metrics:
        _reconstruct_missing(file, model, left_out[:n_mse])
        names.append("mse")
    if "accuracy" in metrics and found.labels is not None:
        y = found.labels.left_out
        file.add({"accuracy": accuracy(model, left_out, y)}, "left out")
        names.append("accuracy")
    return {name: file.records[name] for name in names}


def evaluate_sets(
    real: PathLike,
    fake: PathLike | Generator,
    *,
    out: PathLike,
    n: int | None = None,
    metrics: Sequence[str] = SET_METRICS,
    inception: PathLike = "",
) -> Records:
    """Measures one set of images against another.

    Args:
        real: a folder, an npz of images, or an npz of `mu` and `sigma`.
        fake: a folder, an npz of images, or a model to draw them.
        out: directory of `evaluation.json`, as for `evaluate_run`.
        n: number of images of `fake`, by default all of a set, 40,000 of a
            model.
        metrics: some of `SET_METRICS`.
        inception: path of Inception's weights.

    Returns:
        A record for each metric, by name.
    """
    images = _fakes(fake, n)
    network = network_for(images.shape, inception)
    target = _target(real, images, network)
    file = RecordFile(pathlib.Path(out) / EVALUATION, images.identity)
    names = _measure_missing(file, images, network, target, metrics)
    return {name: file.records[name] for name in names}


def _target(
    real: PathLike, fake: ImageSet, network: Network
) -> ImageSet | Reference:
    """What `fake` is compared with: statistics, or images of its size."""
    if known := reference.from_statistics(real, "real", network):
        return known
    images = image_sets.from_path(real, "real")
    if images.shape != fake.shape:
        raise UserError(
            f"{images.name} has images of {images.shape}, {fake.name} of "
            f"{fake.shape}: both must have one size"
        )
    return images


def _fakes(fake: PathLike | Generator, n: int | None) -> ImageSet:
    if isinstance(fake, Generator):
        return image_sets.from_model(fake, n or N_SAMPLES, fake.image_shape)
    images = image_sets.from_path(fake, "fake")
    if n and n > images.n:
        raise UserError(f"n={n:,}, but {fake} has only {images.n:,} images")
    return images._replace(n=n or images.n)


def during_training(
    real: ImageSet, network: Network, n: int
) -> tuple[Callable[[Generator, Callable[[], bool]], Records | None], str]:
    """What measures a model while it trains.

    The reference is prepared here, so that a missing file stops a run before
    it begins.

    Args:
        real: the images to compare with.
        network: as of `network_for`.
        n: number of samples.

    Returns:
        A function (model, stop) to records by name, or to None if `stop()`
        was true; and the name of the metric whose lowest value is the best.
    """
    known = reference.from_images(real, network)
    metrics = ["fid", "kid"] + ["is"] * bool(network.classes)

    def measure_model(
        model: Generator, stop: Callable[[], bool]
    ) -> Records | None:
        fake = image_sets.from_model(model, n, real.shape)
        return measure.measure(fake, network, known, metrics, stop=stop)

    return measure_model, network.names["fid"]


def network_for(
    shape: tuple[int, ...],
    inception: PathLike = "",
    config: Config | None = None,
) -> Network:
    """The network that suits images: Inception, or a classifier of ours.

    Args:
        shape: (h, w, c) of the images.
        inception: path of Inception's weights, as for `inception.load`. Gray
            images are measured by Inception if it is given, repeated to three
            channels, else by a classifier of digits.
        config: of the run, if it is one.
    """
    if config and config.data.points:
        return classifiers.toy_classifier(config.dataset, config.toy)
    gray = shape[2] == 1 or (config and config.data.gray)
    if gray and not inception:
        return classifiers.digits_classifier(shape[0])
    network = inception_network.load(inception)
    shared = replicas.share_rows(strategies.local(), network.function)
    if shape[2] == 1:
        return network._replace(
            function=lambda images: shared(tf.repeat(images, 3, axis=3))
        )
    return network._replace(function=shared)


def _measure_missing(
    file: RecordFile,
    fake: ImageSet,
    network: Network,
    real: ImageSet | Reference,
    metrics: Sequence[str],
) -> list[str]:
    """Adds the records that the file lacks; returns the names of all."""
    request = f"n={fake.n} {network.name} {network.digest} {real.identity}"
    missing = [m for m in metrics if not file.has(network.names[m], request)]
    if missing:
        known = real if isinstance(real, Reference) else None
        if isinstance(real, ImageSet) and {"fid", "kid"} & set(missing):
            known = reference.from_images(real, network)
        part = file.path.with_name("evaluation.part")
        found = measure.measure(fake, network, known, missing, part=part)
        file.add(found or {}, request)
        part.unlink(missing_ok=True)
    return [network.names[m] for m in metrics]


def _reconstruct_missing(
    file: RecordFile, model: Generator, left_out: np.ndarray
) -> None:
    """Adds the reconstruction error if the file lacks it."""
    request = digests.of_array(left_out)
    if not file.has("mse", request):
        part = file.path.with_name("evaluation-mse.part")
        error = reconstruction_error(model, left_out, part=part)
        file.add({"mse": error}, request)
        part.unlink(missing_ok=True)

"""SavedModels of a run, in versions that TF Serving loads as they are."""

import contextlib
import fcntl
import importlib.util
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from srmcmc_tf.errors import UserError, reason
from srmcmc_tf.files import atomic
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.serving import choice, model_card, signatures, versions
from srmcmc_tf.serving.inputs import Limits

WARM_UP = "assets.extra/tf_serving_warmup_requests"


def write(
    directory: str | os.PathLike[str],
    model: ShortRunEBM,
    facts: model_card.Facts,
    limits: Limits | None = None,
) -> pathlib.Path:
    """Writes the next version of a served model, complete or not at all.

    The chain is exported as the model has it: compiled by XLA if this machine
    has a GPU, otherwise not.

    Args:
        directory: of the versions, made if it is missing.
        model: a `ShortRunEBM` of images, as `Run.load_model` returns it.
        facts: for its card, as `model_card.facts` returns them.
        limits: what one request may ask for.

    Returns:
        The path of the new version. `UserError` if it cannot be written, or
        if the model has no such signatures.
    """
    if not isinstance(model, ShortRunEBM) or len(model.image_shape) != 3:
        raise UserError(
            f"cannot export a {type(model).__name__}: only a ShortRunEBM of "
            "images has these signatures"
        )
    limits = limits or signatures.default_limits(model)
    functions = signatures.build(model, limits, choice.of_model(model))
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    with _lock(directory):
        atomic.remove_leftovers(directory)
        version = max(versions.numbers(directory), default=0) + 1
        path = directory / str(version)
        try:
            # A server takes a number for a version, and ignores other names.
            with atomic.directory(path) as temporary:
                weights = tf.Module()
                weights.list = [v.value for v in model.variables]
                weights.chains = model.starting.variables
                tf.saved_model.save(weights, str(temporary), functions)
                _write_warm_up(temporary / WARM_UP, model, functions)
                model_card.write(temporary, facts, limits, functions)
        except (OSError, tf.errors.OpError) as error:
            text = f"cannot export to {directory}: {reason(error)}"
            raise UserError(text) from None
    return path


def can_warm_up() -> bool:
    """Whether the package with the messages of a warm-up is installed."""
    return importlib.util.find_spec("tensorflow_serving") is not None


def _write_warm_up(
    path: pathlib.Path,
    model: ShortRunEBM,
    functions: dict[str, signatures.Function],
) -> None:
    """Writes a small request per signature, which a server answers first."""
    if not can_warm_up():
        return
    from tensorflow_serving.apis import prediction_log_pb2

    given = _smallest(model.image_shape)
    path.parent.mkdir()
    with tf.io.TFRecordWriter(str(path)) as writer:
        for name, function in functions.items():
            if name not in (*choice.described(functions), signatures.DEFAULT):
                continue  # the same graph as another, at full length
            log = prediction_log_pb2.PredictionLog()
            request = log.predict_log.request
            request.model_spec.signature_name = name
            for key, spec in signatures.input_specs(function).items():
                tensor = tf.make_tensor_proto(given[key], spec.dtype)
                request.inputs[key].CopyFrom(tensor)
            writer.write(log.SerializeToString())


def _smallest(image_shape: tuple[int, ...]) -> dict[str, Any]:
    """Returns a cheap value for every input."""
    image = np.zeros(image_shape, np.uint8)
    return {
        "seeds": [0],
        "labels": [0],
        "K": 1,
        "seeds_1": [0],
        "seeds_2": [1],
        "rho": [0.5],
        "iterations": 1,
        "images": image[None],
        "images_uint8": image[None],
        "png_bytes": [tf.io.encode_png(image).numpy()],
    }


@contextlib.contextmanager
def _lock(directory: pathlib.Path) -> Iterator[None]:
    """Makes other exports wait until the block or the process ends."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

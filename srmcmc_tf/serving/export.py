"""SavedModels of a run, in versions that TF Serving loads as they are.

`BASE/1`, `BASE/2`, ... are complete or not there at all: each is written under
another name, brought to the disk and renamed.
"""

import contextlib
import fcntl
import importlib.util
import os
import pathlib
import shutil

import numpy as np
import tensorflow as tf

from srmcmc_tf import errors
from srmcmc_tf.files import atomic
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.serving import model_card, signatures

WARM_UP = "assets.extra/tf_serving_warmup_requests"


def write(base, model, facts, limits=None):
    """Writes the next version of a served model.

    The chain is exported as the model has it: compiled by XLA where this
    machine has a GPU, plain elsewhere.

    Args:
        base: directory of the versions, made where it is missing.
        model: a `ShortRunEBM` of images.
        facts: what its card tells of it, as of `model_card.facts`.
        limits: `signatures.Limits`, what one request may ask for.

    Returns:
        The path of the new version. `UserError` where it cannot be written,
        or the model is of another kind.
    """
    if not isinstance(model, ShortRunEBM) or len(model.energy.input_shape) != 4:
        raise errors.UserError(
            f"cannot export a {type(model).__name__}: only a ShortRunEBM of "
            "images has these signatures"
        )
    limits = limits or signatures.limits_of(model)
    functions = signatures.build(model, limits)
    base = pathlib.Path(base)
    base.mkdir(parents=True, exist_ok=True)
    # A server takes a whole number for a version, and nothing else.
    temporary = base / ".writing"
    with _only_writer(base):
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            weights = tf.Module()
            weights.list = [v.value for v in model.energy.variables]
            tf.saved_model.save(weights, str(temporary), functions)
            _write_warm_up(temporary / WARM_UP, model, functions)
            model_card.write(temporary, facts, limits, functions)
            for path in [*temporary.rglob("*"), temporary]:
                atomic.sync(path)
            version = base / str(max(versions(base), default=0) + 1)
            os.rename(temporary, version)
            atomic.sync(base)
        except (OSError, tf.errors.OpError) as error:
            text = f"cannot export to {base}: {errors.reason(error)}"
            raise errors.UserError(text) from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return version


def versions(base):
    """The numbers of the versions in a directory, in order."""
    found = pathlib.Path(base).iterdir()
    return sorted(int(path.name) for path in found if path.name.isdigit())


def can_warm_up():
    """Whether the package that has the messages of a warm-up is there."""
    return importlib.util.find_spec("tensorflow_serving") is not None


def _write_warm_up(path, model, functions):
    """One small request a signature, which a server answers at its start."""
    if not can_warm_up():
        return
    from tensorflow_serving.apis import prediction_log_pb2

    given = _smallest(model.energy.input_shape[1:])
    path.parent.mkdir()
    with tf.io.TFRecordWriter(str(path)) as writer:
        for name, function in functions.items():
            log = prediction_log_pb2.PredictionLog()
            request = log.predict_log.request
            request.model_spec.signature_name = name
            for key, spec in signatures.inputs(function).items():
                tensor = tf.make_tensor_proto(given[key], spec.dtype)
                request.inputs[key].CopyFrom(tensor)
            writer.write(log.SerializeToString())


def _smallest(shape):
    """A value for every input, which costs a server little."""
    image = np.zeros(shape, np.uint8)
    return {
        "seeds": [0],
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
def _only_writer(base):
    """Has a second export wait, until the block ends or the process."""
    descriptor = os.open(base, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

"""An exported model in this process: its signatures, defaults and card."""

import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from srmcmc_tf.errors import UserError, reason
from srmcmc_tf.files import json_file
from srmcmc_tf.serving import versions

# What is used of a model card.
_CARD = {"image": list, "limits": {"batch": int}}


class Signature(NamedTuple):
    """One signature of a SavedModel.

    Attributes:
        function: tensors by input name to tensors by output name.
        inputs: the `tf.TensorSpec` of each input.
        outputs: names of the outputs.
        defaults: values of the inputs that a request may leave out.
        definition: its `SignatureDef` message.
    """

    function: Callable[..., dict[str, tf.Tensor]]
    inputs: dict[str, tf.TensorSpec]
    outputs: list[str]
    defaults: dict[str, np.ndarray]
    definition: Any


class Served(NamedTuple):
    """An exported model.

    Attributes:
        signatures: by name.
        card: the facts of its model card.
        version: its number.
    """

    signatures: dict[str, Signature]
    card: dict[str, Any]
    version: int


def load(directory: str | pathlib.Path) -> Served:
    """Loads a version of an export, by default the newest.

    Args:
        directory: what `bin/export` wrote, or one version in it; `UserError`
            if it is neither.
    """
    remedy = "create an export with bin/export --workdir=RUN"
    try:
        path = versions.find(pathlib.Path(directory))
        card = json_file.read(path / versions.CARD_JSON, _CARD, remedy=remedy)
        # TensorFlow logs a stack trace if this file is damaged, and goes on.
        tf.saved_model.experimental.read_fingerprint(str(path))
        definitions = _definitions(path)
        functions = tf.saved_model.load(str(path)).signatures
        signatures = {
            name: _signature(functions[name], definition)
            for name, definition in definitions.items()
        }
    except UserError:
        raise
    except Exception as error:  # a damaged file raises all kinds of them
        raise UserError(
            f"{directory} is not an export ({reason(error)}); {remedy}"
        ) from None
    if card is None:
        raise UserError(f"{directory} is not an export; {remedy}")
    return Served(signatures, card, versions.number(path) or 1)


def _definitions(path: pathlib.Path) -> dict[str, Any]:
    """Returns the `SignatureDef` messages of a SavedModel, by name."""
    model = saved_model_pb2.SavedModel.FromString(
        (path / "saved_model.pb").read_bytes()
    )
    definitions = model.meta_graphs[0].signature_def
    # The others are TensorFlow's own, such as `__saved_model_init_op`.
    names = sorted(n for n in definitions if not n.startswith("__"))
    return {name: definitions[name] for name in names}


def _signature(
    function: Callable[..., dict[str, tf.Tensor]], definition: Any
) -> Signature:
    inputs = {
        name: tf.TensorSpec(info.tensor_shape, info.dtype, name)
        for name, info in sorted(definition.inputs.items())
    }
    defaults = {
        name: tf.make_ndarray(proto)
        for name, proto in definition.defaults.items()
    }
    outputs = sorted(definition.outputs)
    return Signature(function, inputs, outputs, defaults, definition)

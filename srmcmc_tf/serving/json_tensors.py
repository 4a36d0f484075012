"""Tensors in the JSON of TF Serving's REST API, by rows and by columns.

A request has `inputs`, a value per input, or `instances`, a list of rows that
are stacked. A value may stand alone where only one input is needed. Bytes are
{"b64": TEXT}.
"""

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from werkzeug.exceptions import BadRequest

Specs = Mapping[str, tf.TensorSpec]


def parse(
    request: dict[str, Any], specs: Specs, optional: Iterable[str] = ()
) -> dict[str, tf.Tensor]:
    """Returns the tensors of a request by name.

    Args:
        request: with `inputs` or `instances`.
        specs: the type and the shape of each input.
        optional: inputs that may be missing.

    `BadRequest` names what is wrong.
    """
    if ("inputs" in request) == ("instances" in request):
        raise BadRequest("a request must have either inputs or instances")
    needed = [name for name in specs if name not in set(optional)]
    if "inputs" in request:
        values = _columns(request["inputs"], specs, needed)
    else:
        values = _stacked(request["instances"], specs, needed)
    return {key: _tensor(key, specs[key], values[key]) for key in values}


def by_columns(outputs: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The answer to `inputs`; the name of a single output is left out."""
    values = {name: _json(array) for name, array in outputs.items()}
    if len(values) > 1:
        return {"outputs": values}
    (value,) = values.values()
    return {"outputs": value}


def by_rows(outputs: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The answer to `instances`: a list of values, or of objects of them."""
    values = {name: _json(array) for name, array in outputs.items()}
    if len(values) == 1:
        (rows,) = values.values()
        return {"predictions": rows}
    columns = zip(*values.values(), strict=True)
    return {
        "predictions": [dict(zip(values, row, strict=True)) for row in columns]
    }


def _columns(given: Any, specs: Specs, needed: list[str]) -> dict[str, Any]:
    if _is_object(given):
        _check_names("inputs must be an object", given, specs, needed)
        return given
    if len(needed) > 1:
        raise BadRequest(f"inputs must be an object of {', '.join(specs)}")
    return {needed[0]: given}


def _stacked(rows: Any, specs: Specs, needed: list[str]) -> dict[str, Any]:
    if not isinstance(rows, list) or not rows:
        raise BadRequest("instances must be a list of at least one row")
    if not any(_is_object(row) for row in rows):
        if len(needed) > 1:
            raise BadRequest(
                f"instances must be a list of objects of {', '.join(specs)}"
            )
        return {needed[0]: rows}
    for i, row in enumerate(rows):
        what = f"instances, row {i}, must be an object"
        if not _is_object(row):
            raise BadRequest(f"{what}, as the others are")
        _check_names(what, row, specs, needed)
        if set(row) != set(rows[0]):
            raise BadRequest(f"{what} of the same inputs as row 0")
    for name in rows[0]:
        if specs[name].shape.rank == 0:
            raise BadRequest(
                f"{name} is one number per request: use inputs, not instances"
            )
    return {name: [row[name] for row in rows] for name in rows[0]}


def _check_names(
    what: str, given: dict[str, Any], specs: Specs, needed: list[str]
) -> None:
    if not set(needed) <= set(given) <= set(specs):
        names = [n if n in needed else f"{n} (optional)" for n in specs]
        raise BadRequest(f"{what} of {', '.join(names)}")


def _is_object(value: Any) -> bool:
    """Whether a JSON value is an object that does not stand for bytes."""
    return isinstance(value, dict) and set(value) != {"b64"}


def _tensor(name: str, spec: tf.TensorSpec, value: Any) -> tf.Tensor:
    """Converts a JSON value to a tensor of an input's type and shape."""
    try:
        if spec.dtype == tf.string:
            if not isinstance(value, list):
                raise ValueError
            tensor = tf.constant([_bytes(v) for v in value], tf.string)
        else:
            tensor = tf.constant(_numbers(spec.dtype, value))
        if not spec.shape.is_compatible_with(tensor.shape):
            raise ValueError
        return tensor
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        form = ' of {"b64": TEXT}' if spec.dtype == tf.string else ""
        shape = ", ".join("n" if s is None else str(s) for s in spec.shape)
        raise BadRequest(
            f"{name} must be {spec.dtype.name} [{shape}]{form}"
        ) from None


def _numbers(dtype: tf.DType, value: Any) -> np.ndarray:
    # NumPy would give each of many texts the room of the longest.
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left.extend(one)
        elif isinstance(one, bool) or not isinstance(one, int | float):
            raise ValueError
    array = np.asarray(value)
    with np.errstate(all="ignore"):  # too large a value becomes inf
        numbers = array.astype(dtype.as_numpy_dtype)
    inexact = dtype.is_integer and array.size and (numbers != array).any()
    if array.dtype.kind not in "iuf" or inexact:
        raise ValueError
    return numbers


def _bytes(value: Any) -> bytes:
    """The bytes of {"b64": TEXT}, or of a text in UTF-8."""
    if isinstance(value, str):
        return value.encode()
    if set(value) != {"b64"}:
        raise ValueError
    return base64.b64decode(value["b64"], validate=True)


def _json(array: np.ndarray) -> Any:
    """Converts an array to a JSON value, bytes to base64."""
    if array.dtype != object:
        return array.tolist()
    encode = np.vectorize(
        lambda content: {"b64": base64.b64encode(content).decode()}
    )
    return encode(array).tolist()

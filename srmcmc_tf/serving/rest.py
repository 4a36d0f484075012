"""TF Serving's REST API: the paths, the requests and the answers.

    GET  /v1/models/model[/versions/N]           status
    GET  /v1/models/model[/versions/N]/metadata  signatures
    POST /v1/models/model[/versions/N]:predict   outputs of a signature

One version of one model is served. An error is a werkzeug `HTTPException`,
with the code that TF Serving uses.
"""

import json
import re
from typing import Any

import tensorflow as tf
from tensorflow.core.framework import types_pb2
from werkzeug import exceptions

from srmcmc_tf.serving import json_tensors, png_files
from srmcmc_tf.serving.served import Served, Signature
from srmcmc_tf.serving.signatures import DEFAULT, WITH_DEFAULTS

ROOT = "/v1/"
MODEL = "model"  # the name that the model is served by
MOST_DESCENT = 400  # images times iterations of a reconstruction
_SOME_VERSION = r"(?:/versions/(?P<version>[0-9]+)|/labels/(?P<label>[^/:]+))?"
_STATUS = re.compile(
    rf"/v1/models/(?P<model>[^/:]+){_SOME_VERSION}(?P<verb>/metadata)?", re.I
)
_PREDICT = re.compile(
    rf"/v1/models/(?P<model>[^/:]+){_SOME_VERSION}"
    r":(?P<verb>predict|classify|regress)",
    re.I,
)


def answer_get(served: Served, method: str, path: str) -> dict[str, Any]:
    """The status or the metadata of the model."""
    if method not in ("GET", "HEAD"):
        raise exceptions.BadRequest(f"Malformed request: {method} {path}")
    verb = _verb(served, method, _STATUS, path)
    return _metadata(served) if verb else _status(served)


def answer_post(served: Served, path: str, body: bytes) -> dict[str, Any]:
    """The outputs of a signature."""
    verb = _verb(served, "POST", _PREDICT, path).lower()
    if verb != "predict":
        raise exceptions.BadRequest(
            f"no signature is for {verb}: all of them are for predict"
        )
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict):
        raise exceptions.BadRequest("the request must be a JSON object")
    return predict(served, request)


def predict(served: Served, request: dict[str, Any]) -> dict[str, Any]:
    """Answers a request.

    Args:
        served: the exported model.
        request: with `inputs` or `instances` (see `json_tensors`), optionally
            `signature_name`, and `output_filter`, the names of the outputs to
            send, which TF Serving has in gRPC only.
    """
    signatures = served.signatures
    name = request.get("signature_name", DEFAULT)
    if not isinstance(name, str) or name not in signatures:
        known = ", ".join(signatures)
        raise exceptions.BadRequest(f"signature_name must be one of {known}")
    signature = signatures[name]
    wanted = request.get("output_filter") or signature.outputs
    if not isinstance(wanted, list) or any(
        one not in signature.outputs for one in wanted
    ):
        names = ", ".join(signature.outputs)
        raise exceptions.BadRequest(
            f"output_filter must be a list of some of {names}"
        )
    given = json_tensors.parse(request, signature.inputs, signature.defaults)
    missing = set(signature.inputs) - set(given)
    for key in missing:
        given[key] = tf.constant(signature.defaults[key])
    _check_cost(name, signatures, given)
    if "png_bytes" in given:
        card = served.card
        given["png_bytes"] = png_files.opened(
            given["png_bytes"], card["image"], card["limits"]["batch"]
        )
    try:
        found = signature.function(**given)
    except tf.errors.InvalidArgumentError as error:
        raise exceptions.BadRequest(one_line(error)) from None
    outputs = {key: found[key].numpy() for key in wanted}
    if "instances" in request:
        return json_tensors.by_rows(outputs)
    return json_tensors.by_columns(outputs)


def one_line(error: Exception) -> str:
    """Returns TensorFlow's message without what it adds around it."""
    text = getattr(error, "message", None) or str(error)
    text = text.split("<stack traces unavailable>")[-1].split("[Op:")[0]
    return " ".join(text.split())


def _verb(
    served: Served, method: str, pattern: re.Pattern[str], path: str
) -> str:
    """What a path asks for, of a model and a version that are served."""
    found = pattern.fullmatch(path)
    if not found:
        raise exceptions.BadRequest(f"Malformed request: {method} {path}")
    model, version, label = found["model"], found["version"], found["label"]
    if label:
        raise exceptions.BadRequest(f"there is no version label {label}")
    if version and len(version) > 18:
        raise exceptions.BadRequest(f"{version} is not a version number")
    if model != MODEL or int(version or served.version) != served.version:
        raise exceptions.NotFound(
            f"there is no version {version or 'at all'} of {model}; served is "
            f"version {served.version} of {MODEL}"
        )
    return found["verb"] or ""


def _status(served: Served) -> dict[str, Any]:
    status = {"error_code": "OK", "error_message": ""}
    version = str(served.version)
    one = {"version": version, "state": "AVAILABLE", "status": status}
    return {"model_version_status": [one]}


def _metadata(served: Served) -> dict[str, Any]:
    spec = {"name": MODEL, "signature_name": "", "version": str(served.version)}
    definitions = {
        name: {
            "inputs": _infos(signature.definition.inputs),
            "outputs": _infos(signature.definition.outputs),
            "method_name": signature.definition.method_name,
            "defaults": {
                key: value.tolist() for key, value in signature.defaults.items()
            },
        }
        for name, signature in served.signatures.items()
    }
    metadata = {"signature_def": {"signature_def": definitions}}
    return {"model_spec": spec, "metadata": metadata}


def _infos(tensors: Any) -> dict[str, Any]:
    """`TensorInfo` messages by name, as protobuf writes them in JSON."""
    return {
        name: {
            "dtype": types_pb2.DataType.Name(info.dtype),
            "tensor_shape": {
                "dim": [
                    {"size": str(dim.size), "name": dim.name}
                    for dim in info.tensor_shape.dim
                ],
                "unknown_rank": info.tensor_shape.unknown_rank,
            },
            "name": info.name,
        }
        for name, info in tensors.items()
    }


def _check_cost(
    name: str, signatures: dict[str, Signature], given: dict[str, tf.Tensor]
) -> None:
    """Rejects reconstructions that would keep a place for too long."""
    if not name.startswith("reconstruct"):
        return
    # A signature without this input uses the default of the one that has it.
    full = signatures[name.removesuffix(WITH_DEFAULTS)]
    iterations = given.get("iterations", full.defaults.get("iterations", 0))
    images = max(len(t) for t in given.values() if t.shape.rank)
    if images * int(iterations) > MOST_DESCENT:
        raise exceptions.BadRequest(
            f"iterations times images must be at most {MOST_DESCENT} here"
        )

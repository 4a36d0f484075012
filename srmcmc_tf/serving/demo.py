"""A page to explore an exported model, and the small server behind it.

The page, `demo.html`, sends requests to `/v1/models/model:predict` in the
format of TF Serving's REST interface; the exported signatures answer them.
"""

import base64
import json
import logging
import pathlib
import threading
import urllib.parse
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
import waitress
from werkzeug import exceptions
from werkzeug.wrappers import Request, Response

from srmcmc_tf.errors import UserError
from srmcmc_tf.serving import versions

logger = logging.getLogger(__name__)

PREDICT = "/v1/models/model:predict"
LARGEST_REQUEST = 2**20  # bytes
AT_ONCE = 4  # requests that are computed at once; others are rejected
MOST_DESCENT = 400  # images times iterations of a reconstruction
_PAGE = pathlib.Path(__file__).with_suffix(".html")


class Served(NamedTuple):
    """An exported model.

    Attributes:
        model: the loaded SavedModel; its `signatures` are functions by name.
        card: the facts of its model card.
    """

    model: tf.Module
    card: dict[str, Any]


def load(directory: str | pathlib.Path) -> Served:
    """Loads a version of an export, by default the newest.

    Args:
        directory: what `bin/export` wrote, or one version in it; `UserError`
            if it is neither.
    """
    try:
        path = versions.find(pathlib.Path(directory))
        card = json.loads((path / versions.CARD_JSON).read_text())
        return Served(tf.saved_model.load(str(path)), card)
    except (OSError, ValueError, tf.errors.OpError):
        raise UserError(
            f"{directory} is not an export; create one with "
            "bin/export --workdir=RUN"
        ) from None


def server(
    served: Served, host: str = "127.0.0.1", port: int = 0
) -> waitress.server.BaseWSGIServer:
    """Returns a listening server; its `run` answers until it is interrupted.

    Args:
        served: the exported model.
        host: the address to listen on; by default for this machine only.
        port: its port; 0 for any that is free.
    """
    try:
        return waitress.create_server(
            application(served, own_hosts(host)),
            host=host,
            port=port,
            ipv6=":" in host,
            threads=2 * AT_ONCE,  # some are always free to reject requests
            connection_limit=64,
            channel_timeout=30,
            max_request_header_size=2**14,
            max_request_body_size=4 * LARGEST_REQUEST,  # not read beyond that
        )
    except (OSError, ValueError) as error:
        raise UserError(
            f"cannot listen on {host}, port {port}: {error}"
        ) from None


def application(
    served: Served, hosts: Collection[str] | None = None
) -> Callable[..., Any]:
    """Returns the WSGI application: the page, the card and the signatures.

    Args:
        served: the exported model.
        hosts: names that a request may be addressed to; any by default.
    """
    slots = threading.BoundedSemaphore(AT_ONCE)
    page, card = _PAGE.read_bytes(), json.dumps(served.card)

    def answer_predict(request: Request) -> Response:
        if not slots.acquire(blocking=False):
            raise exceptions.TooManyRequests(
                f"{AT_ONCE} requests are in progress; retry later"
            )
        try:
            outputs = predict(served.model.signatures, _body(request))
            return _json(json.dumps(outputs, allow_nan=False))
        finally:
            slots.release()

    routes: dict[tuple[str, str], Callable[[Request], Response]] = {
        ("GET", "/"): lambda _: Response(page, mimetype="text/html"),
        ("GET", "/card"): lambda _: _json(card),
        ("POST", PREDICT): answer_predict,
    }

    @Request.application
    def answer(request: Request) -> Response:
        try:
            _check_origin(request, hosts)
            route = request.method, request.path
            if route not in routes:
                raise exceptions.NotFound(f"there is no {' '.join(route)}")
            return routes[route](request)
        except exceptions.HTTPException as error:
            code, text = error.code or 500, error.description
        except Exception as error:
            code, text = 500, f"{type(error).__name__}: {_one_line(error)}"
            logger.error("%s", text)
        return _json(json.dumps({"error": text}), code)

    return answer


def predict(
    signatures: Mapping[str, Callable[..., Any]], request: dict[str, Any]
) -> dict[str, Any]:
    """Answers a request in the column format of TF Serving's REST interface.

    Args:
        signatures: functions by name.
        request: dictionary with `inputs`, values by name, bytes as
            {"b64": TEXT}; optionally `signature_name`, and `output_filter`,
            the names of the outputs to send.

    Returns:
        {"outputs": values by name, or the value itself if it is the only
        one}. `BadRequest` with the reason if the request is wrong.
    """
    name = request.get("signature_name", "serving_default")
    if not isinstance(name, str) or name not in signatures:
        known = ", ".join(signatures)
        raise exceptions.BadRequest(f"signature_name must be one of {known}")
    function: Any = signatures[name]
    inputs = request.get("inputs")
    specs = function.structured_input_signature[1]
    if not isinstance(inputs, dict) or set(inputs) != set(specs):
        names = ", ".join(specs)
        raise exceptions.BadRequest(f"inputs must be an object of {names}")
    outputs = list(function.structured_outputs)
    wanted = request.get("output_filter") or outputs
    if not isinstance(wanted, list) or any(w not in outputs for w in wanted):
        text = f"output_filter must be a list of some of {', '.join(outputs)}"
        raise exceptions.BadRequest(text)
    tensors = {key: _tensor(key, specs[key], inputs[key]) for key in specs}
    _check_cost(tensors)
    try:
        found = function(**tensors)
    except tf.errors.InvalidArgumentError as error:
        raise exceptions.BadRequest(_one_line(error)) from None
    values = {key: _value(found[key].numpy()) for key in wanted}
    return {"outputs": values if len(values) > 1 else values[wanted[0]]}


def own_hosts(host: str) -> tuple[str, ...] | None:
    """Returns the names of this machine if `host` is for it alone."""
    own = ("127.0.0.1", "localhost", "::1")
    return (host, *own) if host in own or host.startswith("127.") else None


def _check_origin(request: Request, hosts: Collection[str] | None) -> None:
    """Rejects what the page of another site made a browser send.

    werkzeug's `trusted_hosts` cannot list an IPv6 address such as [::1].
    """
    host = urllib.parse.urlsplit(f"//{request.host}").hostname
    origin = request.headers.get("Origin")
    if hosts and host not in hosts:
        raise exceptions.Forbidden(f"this is not {host}")
    if origin and urllib.parse.urlsplit(origin).netloc != request.host:
        raise exceptions.Forbidden(f"{origin} is not allowed")


def _body(request: Request) -> dict[str, Any]:
    """Returns the JSON object of a request."""
    request.max_content_length = LARGEST_REQUEST
    try:
        body = json.loads(request.get_data())
    except exceptions.RequestEntityTooLarge:
        raise exceptions.RequestEntityTooLarge(
            f"a request may have {LARGEST_REQUEST:,} bytes"
        ) from None
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise exceptions.BadRequest("the request must be a JSON object")
    return body


def _check_cost(tensors: dict[str, tf.Tensor]) -> None:
    """Rejects reconstructions that would block the page for too long."""
    iterations = tensors.get("iterations")
    if iterations is None or iterations.shape.rank:
        return
    images = max(len(t) for t in tensors.values() if t.shape.rank)
    if images * int(iterations) > MOST_DESCENT:
        raise exceptions.BadRequest(
            f"iterations times images must be at most {MOST_DESCENT} here"
        )


def _tensor(name: str, spec: tf.TensorSpec, value: Any) -> tf.Tensor:
    """Converts a JSON value to a tensor of an input's type."""
    try:
        if spec.dtype == tf.string:
            value = [base64.b64decode(v["b64"], validate=True) for v in value]
            return tf.constant(value, tf.string)
        array = np.asarray(value)
        with np.errstate(all="ignore"):  # too large a value becomes inf
            tensor = array.astype(spec.dtype.as_numpy_dtype)
        whole = spec.dtype.is_integer and array.size
        if array.dtype.kind not in "iuf" or (whole and (tensor != array).any()):
            raise ValueError
        return tf.constant(tensor)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        form = ' of {"b64": TEXT}' if spec.dtype == tf.string else ""
        shape = ", ".join("n" if s is None else str(s) for s in spec.shape)
        raise exceptions.BadRequest(
            f"{name} must be {spec.dtype.name} [{shape}]{form}"
        ) from None


def _value(array: np.ndarray) -> Any:
    """Converts an array to a JSON value, bytes to base64."""
    if array.dtype != object:
        return array.tolist()
    encode = np.vectorize(
        lambda content: {"b64": base64.b64encode(content).decode()}
    )
    return encode(array).tolist()


def _one_line(error: Exception) -> str:
    """Returns TensorFlow's message without what it adds around it."""
    text = getattr(error, "message", None) or str(error)
    text = text.split("<stack traces unavailable>")[-1].split("[Op:")[0]
    return " ".join(text.split())


def _json(text: str, code: int = 200) -> Response:
    return Response(text, code, mimetype="application/json")

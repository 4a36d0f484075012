"""A page to look at an exported model, and the small server behind it.

The page is `demo.html`. It asks for everything at `/v1/models/model:predict`
in the words of TF Serving's REST interface, and is answered by the exported
signatures alone.
"""

import base64
import json
import pathlib
import sys
import threading
import urllib.parse
from typing import NamedTuple

import numpy as np
import tensorflow as tf
import waitress
from werkzeug import exceptions
from werkzeug.wrappers import Request, Response

from srmcmc_tf.errors import UserError
from srmcmc_tf.serving import export

PREDICT = "/v1/models/model:predict"
LARGEST_REQUEST = 2**20  # bytes
AT_ONCE = 4  # requests that are computed; others are sent away
MOST_DESCENT = 400  # images times iterations of a reconstruction
_PAGE = pathlib.Path(__file__).with_suffix(".html")


class Served(NamedTuple):
    """An exported model.

    Attributes:
        model: the loaded SavedModel; its `signatures` are functions by name.
        card: the facts of its model card.
    """

    model: tf.Module
    card: dict


def load(directory):
    """Loads a version of an export, by default the newest.

    Args:
        directory: what `bin/export` wrote, or one version in it.

    Returns:
        `Served`; `UserError` where there is none.
    """
    path = pathlib.Path(directory)
    try:
        if not (path / "model_card.json").exists():
            path /= str(max(export.versions(path)))
        card = json.loads((path / "model_card.json").read_text())
        return Served(tf.saved_model.load(str(path)), card)
    except (OSError, ValueError, tf.errors.OpError):
        raise UserError(
            f"{directory} is no export: bin/export --workdir=RUN makes one"
        ) from None


def server(served, host="127.0.0.1", port=0):
    """A server that listens; its `run` answers until it is interrupted.

    Args:
        served: `Served`.
        host: the address to listen on; by default seen by this machine only.
        port: its port; 0 for any that is free.
    """
    try:
        return waitress.create_server(
            application(served, _names(host)),
            host=host,
            port=port,
            ipv6=":" in host,
            threads=2 * AT_ONCE,  # some are always free to send others away
            connection_limit=64,
            channel_timeout=30,
            max_request_header_size=2**14,
            max_request_body_size=4 * LARGEST_REQUEST,  # not read beyond that
        )
    except (OSError, ValueError) as error:
        raise UserError(
            f"cannot listen on {host}, port {port}: {error}"
        ) from None


def application(served, names=None):
    """The WSGI application: the page, the card and the signatures.

    Args:
        served: `Served`.
        names: hosts that a request may be addressed to; any by default.
    """
    slots = threading.BoundedSemaphore(AT_ONCE)
    page, card = _PAGE.read_bytes(), json.dumps(served.card)

    def answer_predict(request):
        if not slots.acquire(blocking=False):
            raise exceptions.TooManyRequests(
                f"{AT_ONCE} requests are under way; ask again later"
            )
        try:
            outputs = predict(served.model.signatures, _body(request))
            return _json(json.dumps(outputs, allow_nan=False))
        finally:
            slots.release()

    routes = {
        ("GET", "/"): lambda _: Response(page, mimetype="text/html"),
        ("GET", "/card"): lambda _: _json(card),
        ("POST", PREDICT): answer_predict,
    }

    @Request.application
    def answer(request):
        try:
            _refuse_strangers(request, names)
            route = request.method, request.path
            if route not in routes:
                raise exceptions.NotFound(f"there is no {' '.join(route)}")
            return routes[route](request)
        except exceptions.HTTPException as error:
            code, text = error.code, error.description
        except Exception as error:
            code, text = 500, f"{type(error).__name__}: {_one_line(error)}"
            print(text, file=sys.stderr)
        return _json(json.dumps({"error": text}), code)

    return answer


def predict(signatures, request):
    """Answers a request in the column form of TF Serving's REST interface.

    Args:
        signatures: functions by name.
        request: dictionary with `inputs`, values by name, bytes as
            {"b64": TEXT}; if wanted, `signature_name`, and `output_filter`,
            the names of the outputs to send.

    Returns:
        {"outputs": values by name, or the value itself where it is the only
        one}. A `BadRequest` says what is wrong with the request.
    """
    name = request.get("signature_name", "serving_default")
    if not isinstance(name, str) or name not in signatures:
        known = ", ".join(signatures)
        raise exceptions.BadRequest(f"signature_name must be one of {known}")
    function, inputs = signatures[name], request.get("inputs")
    specs = function.structured_input_signature[1]
    if not isinstance(inputs, dict) or set(inputs) != set(specs):
        names = ", ".join(specs)
        raise exceptions.BadRequest(f"inputs must be an object of {names}")
    known = list(function.structured_outputs)
    wanted = request.get("output_filter") or known
    if not isinstance(wanted, list) or any(w not in known for w in wanted):
        text = f"output_filter must be a list of some of {', '.join(known)}"
        raise exceptions.BadRequest(text)
    tensors = {key: _tensor(key, specs[key], inputs[key]) for key in specs}
    _refuse_hours(tensors)
    try:
        outputs = function(**tensors)
    except tf.errors.InvalidArgumentError as error:
        raise exceptions.BadRequest(_one_line(error)) from None
    values = {key: _value(outputs[key].numpy()) for key in wanted}
    return {"outputs": values if len(values) > 1 else values[wanted[0]]}


def _names(host):
    """What this machine calls itself, where a server is for it alone."""
    own = ("127.0.0.1", "localhost", "::1")
    return (host, *own) if host in own or host.startswith("127.") else None


def _refuse_strangers(request, names):
    """Sends away what another site's page had a browser ask."""
    host = urllib.parse.urlsplit(f"//{request.host}").hostname
    origin = request.headers.get("Origin")
    if names and host not in names:
        raise exceptions.Forbidden(f"this is not {host}")
    if origin and urllib.parse.urlsplit(origin).netloc != request.host:
        raise exceptions.Forbidden(f"{origin} may not ask this")


def _body(request):
    """The JSON object that a request carries."""
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


def _refuse_hours(tensors):
    """A page for looking has a lower limit than the signature itself."""
    iterations = tensors.get("iterations")
    if iterations is None or iterations.shape.rank:
        return
    images = max(len(t) for t in tensors.values() if t.shape.rank)
    if images * int(iterations) > MOST_DESCENT:
        raise exceptions.BadRequest(
            f"iterations times images must be {MOST_DESCENT} at the most here"
        )


def _tensor(name, spec, value):
    """A JSON value as a tensor of the type that an input has."""
    try:
        if spec.dtype == tf.string:
            value = [base64.b64decode(v["b64"], validate=True) for v in value]
            return tf.constant(value, tf.string)
        array = np.asarray(value)
        with np.errstate(all="ignore"):  # what is too large becomes inf
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


def _value(array):
    """An array as a JSON value, its bytes in base64."""
    if array.dtype != object:
        return array.tolist()
    encode = np.vectorize(
        lambda content: {"b64": base64.b64encode(content).decode()}
    )
    return encode(array).tolist()


def _one_line(error):
    """TensorFlow's message without the frame around it."""
    text = getattr(error, "message", None) or str(error)
    text = text.split("<stack traces unavailable>")[-1].split("[Op:")[0]
    return " ".join(text.split())


def _json(text, code=200):
    return Response(text, code, mimetype="application/json")

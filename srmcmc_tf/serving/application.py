"""The WSGI application of `bin/demo`: the page, the card and the REST API.

`demo.html` sends the requests of TF Serving's REST API; see `rest`.
"""

import ipaddress
import json
import logging
import pathlib
import urllib.parse
from collections.abc import Callable
from typing import Any

from werkzeug import exceptions
from werkzeug.wrappers import Request, Response

from srmcmc_tf.serving import rest
from srmcmc_tf.serving.queue import Busy, Queue
from srmcmc_tf.serving.served import Served

logger = logging.getLogger(__name__)

LARGEST_REQUEST = 2**20  # bytes
_PAGE = pathlib.Path(__file__).with_name("demo.html")


def application(
    served: Served, queue: Queue, *, local: bool = False
) -> Callable[..., Any]:
    """Returns the WSGI application.

    Args:
        served: the exported model.
        queue: where predictions wait for a place.
        local: whether requests must be addressed to this machine, because it
            listens for itself only.
    """
    page, card = _PAGE.read_bytes(), json.dumps(served.card)

    def respond(request: Request) -> Response:
        _check_origin(request, local)
        method, path = request.method, request.path
        if path.lower().startswith(rest.ROOT) and method == "POST":
            with queue.place():
                answer = rest.answer_post(served, path, _body(request))
                return _json(json.dumps(answer, allow_nan=False))
        if path.lower().startswith(rest.ROOT):
            return _json(json.dumps(rest.answer_get(served, method, path)))
        if method not in ("GET", "HEAD") or path not in ("/", "/card"):
            raise exceptions.NotFound(f"there is no {method} {path}")
        return _json(card) if path == "/card" else _html(page)

    @Request.application
    def answer(request: Request) -> Response:
        headers = {}
        try:
            return respond(request)
        except exceptions.HTTPException as error:
            code, text = error.code or 500, error.description
        except Busy as error:
            code, text, headers = 503, str(error), {"Retry-After": "10"}
        except Exception as error:
            code, text = 500, f"{type(error).__name__}: {rest.one_line(error)}"
            logger.error("%s", text)
        return _json(json.dumps({"error": text}), code, headers)

    return answer


def is_local(address: str) -> bool:
    """Whether a numeric address is one of this machine only."""
    number = ipaddress.ip_address(address)
    inner = getattr(number, "ipv4_mapped", None)  # ::ffff:127.0.0.1
    return (inner or number).is_loopback


def _check_origin(request: Request, local: bool) -> None:
    """Rejects what the page of another site made a browser send.

    Such a page may have a name that leads to this machine.
    """
    host = _hostname(request.host)
    if local and not _names_this_machine(host):
        raise exceptions.Forbidden(f"this is not {host}")
    origin = request.headers.get("Origin")
    if origin is None:
        return
    if origin.split("://")[-1] != request.host:
        raise exceptions.Forbidden(f"{origin} is not allowed")


def _names_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or is_local(host)
    except ValueError:  # another name
        return False


def _hostname(host: str) -> str:
    try:
        return urllib.parse.urlsplit(f"//{host}").hostname or ""
    except ValueError:  # such as an open bracket
        raise exceptions.BadRequest("the header Host is invalid") from None


def _body(request: Request) -> bytes:
    request.max_content_length = LARGEST_REQUEST
    try:
        return request.get_data()
    except exceptions.RequestEntityTooLarge:
        raise exceptions.RequestEntityTooLarge(
            f"a request may have {LARGEST_REQUEST:,} bytes"
        ) from None


def _html(page: bytes) -> Response:
    return Response(page, mimetype="text/html")


def _json(
    text: str, code: int = 200, headers: dict[str, str] | None = None
) -> Response:
    return Response(text, code, headers, mimetype="application/json")

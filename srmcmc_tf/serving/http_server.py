"""The connections of `bin/demo`: who may stay, for how long, and how many.

A connection that is slow to send a request, to read its answer or to go on is
closed after `PATIENCE` seconds, however often it sends a byte. If too many
are open, the one that has kept the server waiting longest makes room.
"""

import contextlib
import json
import socket
import time
from typing import Any

from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask

from srmcmc_tf.errors import UserError
from srmcmc_tf.serving.application import (
    LARGEST_REQUEST,
    application,
    is_local,
)
from srmcmc_tf.serving.queue import Queue
from srmcmc_tf.serving.served import Served

AT_ONCE = 4  # requests that are computed at once
WAITING = 32  # requests that wait for one of these places
LONGEST_WAIT = 60.0  # seconds
PATIENCE = 30.0  # seconds, with a connection that owes something
MOST_CONNECTIONS = 256


def create(served: Served, host: str = "127.0.0.1", port: int = 0) -> "Server":
    """Returns a listening server; its `run` answers until it is interrupted.

    Args:
        served: the exported model.
        host: the address to listen on; by default for this machine only.
        port: its port; 0 for any that is free.
    """
    host = host.removeprefix("[").removesuffix("]")
    try:
        server = Server(
            None,
            host=host,
            port=port,
            ipv6=":" in host,
            # Some are always free for what needs no place, and to reject.
            threads=AT_ONCE + WAITING + 4,
            connection_limit=2 * MOST_CONNECTIONS,
            asyncore_use_poll=True,  # `select` has a limit of its own
            cleanup_interval=1,
            max_request_header_size=2**14,
            max_request_body_size=4 * LARGEST_REQUEST,  # not read beyond that
            # A thread never waits for a client to read its answer.
            outbuf_high_watermark=2**40,
        )
    except (OSError, ValueError) as error:
        raise UserError(
            f"cannot listen on {host}, port {port}: {error}"
        ) from None
    queue = Queue(AT_ONCE, WAITING, LONGEST_WAIT)
    # By the address it listens on: many names lead to this machine.
    local = is_local(server.effective_host)
    server.application = application(served, queue, local=local)
    return server


class _JsonError(ErrorTask):
    """waitress's answer to what is not HTTP, in the form of all others."""

    def execute(self) -> None:
        error = self.request.error
        body = json.dumps({"error": f"{error.reason}: {error.body}"}).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class _Connection(HTTPChannel):
    """A connection that knows since when its client owes something."""

    error_task_class = _JsonError

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.since = time.monotonic()
        super().__init__(*args, **kwargs)

    def received(self, data: bytes) -> bool:
        if self.request is None:
            self.since = time.monotonic()  # a new request
        return super().received(data)

    def dismiss(self) -> None:
        """Ends the connection, and what its client does not read."""
        self.will_close = True  # in the next round, which this makes due:
        open_socket = self.socket  # None once its thread has closed it
        if open_socket is not None:
            with contextlib.suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)


class Server(TcpWSGIServer):
    """waitress's server with these connections."""

    channel_class = _Connection

    def maintenance(self, now: float) -> None:
        now = time.monotonic()
        for connection in self._connections():
            if connection.requests:  # it waits for us
                connection.since = now
            elif now - connection.since > PATIENCE:
                connection.dismiss()

    def handle_accept(self) -> None:
        super().handle_accept()
        owing = [c for c in self._connections() if not c.requests]
        if len(self.active_channels) > MOST_CONNECTIONS and owing:
            min(owing, key=lambda c: c.since).dismiss()

    def _connections(self) -> list[_Connection]:
        return [c for c in self.active_channels.values() if not c.will_close]

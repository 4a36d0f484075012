import contextlib
import json
import socket
import threading
import time
import urllib.request

import pytest
from demo_client import PREDICT

from srmcmc_tf.errors import UserError
from srmcmc_tf.serving import http_server
from srmcmc_tf.serving.served import Served

EMPTY = Served({}, {}, 1)


@contextlib.contextmanager
def running(served=EMPTY, host="127.0.0.1"):
    """A server in a thread; its address."""
    server = http_server.create(served, host)
    server.adj.asyncore_loop_timeout = 0.05
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server, server.socket.getsockname()[:2]
    finally:
        server.task_dispatcher.shutdown()
        for channel in [*server.active_channels.values()]:
            channel.dismiss()
        server.close()
        thread.join(60)
        assert not thread.is_alive()


def get(address, path="/", timeout=60, **headers):
    """The status line and the body of the answer to GET."""
    with socket.create_connection(address, timeout=timeout) as to:
        lines = [f"GET {path} HTTP/1.1", "Host: localhost"]
        lines += [f"{k}: {v}" for k, v in headers.items()]
        to.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        return read(to)


def read(to):
    answer = b""
    while part := to.recv(65536):
        answer += part
    return answer


def test_trickling_connections_do_not_keep_others_out(monkeypatch):
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 16)
    with running() as (server, address), contextlib.ExitStack() as stack:
        for _ in range(64):
            slow = socket.create_connection(address, timeout=60)
            stack.enter_context(slow)
            slow.sendall(b"POST / HTTP/1.1\r\nHost")
        assert get(address, timeout=20).startswith(b"HTTP/1.1 200 ")
        assert len(server.active_channels) <= 17


def test_a_connection_that_trickles_is_closed(monkeypatch):
    monkeypatch.setattr(http_server, "PATIENCE", 0.5)
    with running() as (server, address):
        server.adj.cleanup_interval = 0.05
        with socket.create_connection(address, timeout=60) as slow:
            start = time.monotonic()
            with contextlib.suppress(OSError):  # it hangs up at any moment
                while time.monotonic() - start < 20:
                    slow.sendall(b"a")
                    time.sleep(0.05)
            assert time.monotonic() - start < 20


def test_a_request_that_is_computed_has_time(monkeypatch):
    """Only what a client owes has an end, not what it waits for."""
    monkeypatch.setattr(http_server, "PATIENCE", 0.2)
    with running() as (server, address):
        server.adj.cleanup_interval = 0.05

        def slow(environ, start_response):
            time.sleep(1)
            start_response("200 OK", [("Content-Length", "4")])
            return [b"done"]

        server.application = slow
        assert get(address).endswith(b"done")


def test_what_is_not_http_is_answered_by_json():
    with running() as (_, address):
        for request, code in (
            (b"\x00\xff\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
        ):
            with socket.create_connection(address, timeout=60) as to:
                to.sendall(request)
                head, _, body = read(to).partition(b"\r\n\r\n")
            assert head.split()[1] == str(code).encode()
            assert list(json.loads(body)) == ["error"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "::1"])
def test_the_host_is_checked_for_every_name_of_this_machine(host):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        if ":" in host:
            pytest.skip("this machine has no IPv6")
    with running(host=host) as (_, address):
        assert get(address).startswith(b"HTTP/1.1 200 ")
        with socket.create_connection(address, timeout=60) as to:
            to.sendall(b"GET / HTTP/1.0\r\nHost: rebound.example\r\n\r\n")
            assert read(to).startswith(b"HTTP/1.0 403 ")


def test_a_port_that_is_taken_is_an_error():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UserError, match=f"127.0.0.1, port {port}"):
            http_server.create(EMPTY, port=port)


def test_a_name_that_leads_nowhere_is_an_error():
    with pytest.raises(UserError, match="cannot listen on nowhere.invalid"):
        http_server.create(EMPTY, "nowhere.invalid")


def test_twenty_clients_at_once_are_all_answered(model):
    answers = []

    def ask(seed):
        request = {"signature_name": "sample", "inputs": {"seeds": [seed]}}
        url = f"http://{address[0]}:{address[1]}{PREDICT}"
        body = json.dumps(request).encode()
        with urllib.request.urlopen(url, body, timeout=120) as answer:
            answers.append((seed, json.load(answer)["outputs"]["images"]))

    with running(model) as (_, address):
        ask(0)
        threads = [
            threading.Thread(target=ask, args=(i,)) for i in range(1, 21)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert sorted(seed for seed, _ in answers) == list(range(21))


def test_a_connection_that_is_closed_already_may_be_dismissed():
    with running() as (server, address):
        with socket.create_connection(address):
            while not server.active_channels:
                time.sleep(0.01)
            (channel,) = server.active_channels.values()
        while channel.socket is not None:
            time.sleep(0.01)
        channel.dismiss()

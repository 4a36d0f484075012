import json
import threading

import pytest
from demo_client import PREDICT, post
from werkzeug.test import Client

from srmcmc_tf.serving import application as module
from srmcmc_tf.serving import rest
from srmcmc_tf.serving.application import application, is_local
from srmcmc_tf.serving.queue import Queue
from srmcmc_tf.serving.served import Served

SAMPLE = {"signature_name": "sample", "inputs": {"seeds": [1], "K": 3}}


def test_a_large_request_is_refused(client):
    response = post(client, b" " * (module.LARGEST_REQUEST + 1))
    assert response.status_code == 413
    assert "1,048,576 bytes" in response.json["error"]


def test_pages_of_other_sites_may_not_ask(model):
    client = Client(application(model, Queue(1, 0, 1), local=True))
    for host, origin, code in (
        ("127.0.0.1:8000", None, 200),
        ("localhost:8000", "http://localhost:8000", 200),
        ("[::1]:8000", None, 200),
        ("127.9.9.9", None, 200),
        ("rebound.example:8000", None, 403),
        ("127.0.0.1.example:8000", None, 403),
        ("8.8.8.8", None, 403),
        ("127.0.0.1:8000", "http://other.example", 403),
        ("127.0.0.1:8000", "null", 403),
        ("127.0.0.1:8000", "http://[", 403),
    ):
        headers = {"Host": host} | ({"Origin": origin} if origin else {})
        for response in (
            client.post(PREDICT, json=SAMPLE, headers=headers),
            client.get("/v1/models/model", headers=headers),
            client.get("/card", headers=headers),
        ):
            assert response.status_code == code, (host, origin)
            assert ("error" in response.json) == (code != 200)


def test_an_invalid_host_is_an_error_of_the_client(model):
    client = Client(application(model, Queue(1, 0, 1), local=True))
    for host in ("[::1", "[", "a b", "\xff"):
        response = client.get("/card", headers={"Host": host})
        assert response.status_code in (400, 403), host


@pytest.mark.parametrize(
    "address, local",
    [
        ("127.0.0.1", True),
        ("127.3.2.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.1", False),
    ],
)
def test_loopback_addresses_are_local(address, local):
    assert is_local(address) == local


def test_the_page_and_the_card_are_there_and_nothing_else(client, model):
    assert b"<!doctype html>" in client.get("/").data
    assert client.get("/card").json == json.loads(json.dumps(model.card))
    for method, path in (
        ("GET", "/etc/passwd"),
        ("GET", "/../card"),
        ("POST", "/"),
        ("DELETE", "/card"),
        ("GET", "/v2/models/model"),
    ):
        response = client.open(path, method=method)
        assert response.status_code == 404 and "error" in response.json


def test_a_fifth_request_waits_and_is_answered(monkeypatch):
    """And after the wait, it gets 503; until then, others are answered."""
    entered, leave = threading.Semaphore(0), threading.Event()

    def slow(*_):
        entered.release()
        leave.wait(60)
        return {"outputs": 1}

    monkeypatch.setattr(rest, "answer_post", slow)
    client = Client(application(Served({}, {}, 1), Queue(4, 2, 0.3)))
    codes = []
    threads = [
        threading.Thread(
            target=lambda: codes.append(post(client, SAMPLE).status_code)
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert entered.acquire(timeout=60)
    response = post(client, SAMPLE)
    assert response.status_code == 503
    assert "busy for 0.3 seconds; retry later" in response.json["error"]
    assert int(response.headers["Retry-After"]) > 0
    assert client.get("/v1/models/model").status_code == 200
    fifth = threading.Thread(
        target=lambda: codes.append(post(client, SAMPLE).status_code)
    )
    fifth.start()
    leave.set()
    for thread in (*threads, fifth):
        thread.join(60)
    assert codes == [200] * 5


def test_an_unexpected_error_is_logged_as_one_line(caplog, monkeypatch):
    def fail(*_):
        raise RuntimeError("this\nwas not expected")

    monkeypatch.setattr(rest, "answer_post", fail)
    client = Client(application(Served({}, {}, 1), Queue(1, 0, 1)))
    response = post(client, SAMPLE)
    assert response.status_code == 500
    assert caplog.messages == [response.json["error"]]
    assert response.json["error"] == "RuntimeError: this was not expected"

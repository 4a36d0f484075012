import base64
import json
import re
import socket
import threading

import numpy as np
import pytest
import tensorflow as tf
from demo_client import b64, post
from helpers import ROOT, random_images
from werkzeug.test import Client

from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.serving import demo, signatures

PNG = tf.io.encode_png(random_images(1)[0]).numpy()


def documented_requests():
    """Those of docs/serving.md by signature, with values for placeholders."""
    text = (ROOT / "docs" / "serving.md").read_text()
    block = re.search(r"```json\n(.*?)```", text, re.S).group(1)
    image = (random_images(1)[0] // 200).tolist()  # fit for all types
    for line in block.splitlines():
        line = line.replace("IMAGE", json.dumps(image))
        line = line.replace('"PNG"', json.dumps(b64(PNG)))
        request = json.loads(line)
        yield request.get("signature_name", "serving_default"), request


def test_the_documented_requests_are_answered_by_the_models_tensors(
    client, exported
):
    _, model = exported
    seen = {}
    for name, request in documented_requests():
        response = post(client, request)
        assert response.status_code == 200, response.text
        seen[name] = response.json["outputs"]
    assert {*seen, "energy"} == {*signatures.SIGNATURES, "serving_default"}

    x = (random_images(1) // 200).astype(np.float32)
    floats = pixels.to_float(random_images(1) // 200)
    file = pixels.to_float(random_images(1))
    z = model.start([0]), model.start([1])
    expected = {
        "sample": model.sample([0, 1], K=10),
        "interpolate": model.interpolate(*z, [1.0, 0.7, 0.0]),
        "reconstruct": model.reconstruct(x, iterations=20).x,
        "reconstruct_uint8": model.reconstruct(floats, iterations=20).x,
        "reconstruct_png": model.reconstruct(file, iterations=20).x,
    }
    for name, images in expected.items():
        found = seen[name]
        np.testing.assert_array_equal(np.float32(found["images"]), images)
        np.testing.assert_array_equal(
            found["images_uint8"], pixels.to_uint8(images.numpy())
        )
        first = np.ravel(found["png_bytes"])[0]["b64"]
        np.testing.assert_array_equal(
            tf.io.decode_png(base64.b64decode(first)),
            np.reshape(found["images_uint8"], [-1, 8, 8, 1])[0],
        )
    for name, images in (
        ("serving_default", x),
        ("energy_uint8", floats),
        ("energy_png", file),
    ):
        np.testing.assert_array_equal(
            np.float32(seen[name]), model(images)[:, 0]
        )


SAMPLE = {"signature_name": "sample", "inputs": {"seeds": [1], "K": 3}}


def changed(**inputs):
    return {**SAMPLE, "inputs": {**SAMPLE["inputs"], **inputs}}


@pytest.mark.parametrize(
    "request_, named",
    [
        (b"", "JSON object"),
        (b"\xff\xfe{", "JSON object"),
        ("[" * 100_000, "JSON object"),
        ([], "JSON object"),
        ({}, "inputs must be an object of images"),
        ({**SAMPLE, "signature_name": "nothing"}, "signature_name"),
        ({**SAMPLE, "signature_name": ["sample"]}, "signature_name"),
        ({**SAMPLE, "output_filter": "images"}, "output_filter"),
        ({**SAMPLE, "output_filter": [["images"]]}, "output_filter"),
        ({**SAMPLE, "inputs": [1]}, "inputs must be an object of"),
        (changed(more=1), "inputs must be an object of"),
        (changed(seeds=[]), "seeds must hold 1 to 64"),
        (changed(seeds=[[1], [2, 3]]), "seeds must be int64 [n]"),
        (changed(seeds=["1"]), "seeds must be int64 [n]"),
        (changed(seeds=[1.5]), "seeds must be int64 [n]"),
        (changed(seeds=[2**63]), "seeds must be int64 [n]"),
        (changed(seeds=[2**80]), "seeds must be int64 [n]"),
        (changed(seeds=None), "seeds must be int64 [n]"),
        (changed(seeds={"b64": "AAAA"}), "seeds must be int64 [n]"),
        (changed(K=True), "K must be int32 []"),
        (changed(K=11), "K must be between 0 and 10"),
        (changed(K=[3]), "K_shape"),
        ({"inputs": {"images": [[[[float("nan")]] * 8] * 8]}}, "images must"),
        ({"inputs": {"images": [[[[1e300]] * 8] * 8]}}, "images must"),
        (
            {
                "signature_name": "energy_uint8",
                "inputs": {"images_uint8": [[[[256]] * 8] * 8]},
            },
            "images_uint8 must be uint8",
        ),
        *(
            (
                {
                    "signature_name": "energy_png",
                    "inputs": {"png_bytes": files},
                },
                m,
            )
            for files, m in (
                ([], "png_bytes must hold 1 to 64"),
                ("AAAA", "png_bytes must be string"),
                ([{"b64": "?"}], "png_bytes must be string"),
                ([{"b64": 1}], "png_bytes must be string"),
                ([{"b64": b64(b"GIF89a")}], "png_bytes must be PNG"),
                ([{"b64": b64(PNG[:-20])}], "png_bytes"),
            )
        ),
    ],
)
def test_a_bad_request_is_answered_by_one_line(client, request_, named):
    response = post(client, request_)
    assert response.status_code == 400
    assert named in response.json["error"]
    assert "\n" not in response.json["error"]


def test_a_large_request_is_refused(client):
    response = post(client, b" " * (demo.LARGEST_REQUEST + 1))
    assert response.status_code == 413
    assert "1,048,576 bytes" in response.json["error"]


def test_pages_of_other_sites_may_not_ask(exported):
    served = demo.load(exported[0] / "export")
    client = Client(demo.application(served, demo.own_hosts("127.0.0.1")))
    for host, origin, code in (
        ("127.0.0.1:8000", None, 200),
        ("localhost:8000", "http://localhost:8000", 200),
        ("[::1]:8000", None, 200),
        ("rebound.example:8000", None, 403),
        ("127.0.0.1:8000", "http://other.example", 403),
        ("127.0.0.1:8000", "null", 403),
    ):
        headers = {"Host": host} | ({"Origin": origin} if origin else {})
        response = client.post(demo.PREDICT, json=SAMPLE, headers=headers)
        assert response.status_code == code, (host, origin)


def test_a_request_that_would_take_hours_is_refused(client):
    images = np.zeros([21, 8, 8, 1]).tolist()
    inputs = {"images": images, "iterations": 20}
    request = {"signature_name": "reconstruct", "inputs": inputs}
    response = post(client, request)
    assert response.status_code == 400
    assert "must be at most 400" in response.json["error"]


def test_other_addresses_and_methods_are_not_there(client):
    for response in (client.get("/etc/passwd"), client.get(demo.PREDICT)):
        assert response.status_code == 404 and "error" in response.json


def test_requests_beyond_a_number_are_rejected(exported, monkeypatch):
    entered, leave = threading.Semaphore(0), threading.Event()

    def slow(*_):
        entered.release()
        leave.wait(60)
        return {"outputs": 1}

    monkeypatch.setattr(demo, "predict", slow)
    client = Client(demo.application(demo.Served(tf.Module(), {})))
    monkeypatch.setattr(tf.Module, "signatures", {}, raising=False)
    threads = [
        threading.Thread(target=post, args=(client, SAMPLE))
        for _ in range(demo.AT_ONCE)
    ]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert entered.acquire(timeout=60)
    response = post(client, SAMPLE)
    assert response.status_code == 429 and "later" in response.json["error"]
    leave.set()
    for thread in threads:
        thread.join()
    assert post(client, SAMPLE).status_code == 200


def test_an_export_is_found_or_its_absence_reported(exported, tmp_path):
    assert demo.load(exported[0] / "export" / "1").card["K"] == 5
    for path in (tmp_path, tmp_path / "nothing", exported[0]):
        with pytest.raises(UserError, match="is not an export"):
            demo.load(path)


def test_a_port_that_is_taken_is_an_error():
    served = demo.Served(tf.Module(), {})
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UserError, match=f"127.0.0.1, port {port}"):
            demo.server(served, port=port)


def test_an_unexpected_error_is_logged_as_one_line(caplog):
    client = Client(demo.application(demo.Served(tf.Module(), {})))
    response = post(client, SAMPLE)  # it has no signatures
    assert response.status_code == 500
    assert caplog.messages == [response.json["error"]]

import base64
import contextlib
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import numpy as np
import pytest
import tensorflow as tf
from helpers import ROOT, random_images, write_images
from werkzeug.test import Client

import srmcmc_tf
from srmcmc_tf.cli import demo as verb
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.serving import demo, signatures

CHROMIUM = [shutil.which(name) for name in ("chromium", "chromedriver")]
PNG = tf.io.encode_png(random_images(1)[0]).numpy()


@pytest.fixture(scope="module")
def client(exported):
    served = demo.load(exported[0] / "export")
    return Client(demo.application(served))


def post(client, request):
    body = request if isinstance(request, (bytes, str)) else json.dumps(request)
    return client.post(demo.PREDICT, data=body)


def outputs(client, name, inputs, *wanted):
    request = {"signature_name": name, "inputs": inputs}
    response = post(client, {**request, "output_filter": list(wanted)})
    assert response.status_code == 200, response.text
    return response.json["outputs"]


def documented_requests():
    """The requests of docs/serving.md by signature, its placeholders filled in."""
    text = (ROOT / "docs" / "serving.md").read_text()
    block = re.search(r"```json\n(.*?)```", text, re.S).group(1)
    image = (random_images(1)[0] // 200).tolist()  # fit for all types
    for line in block.splitlines():
        line = line.replace("IMAGE", json.dumps(image))
        line = line.replace('"PNG"', json.dumps(b64(PNG)))
        request = json.loads(line)
        yield request.get("signature_name", "serving_default"), request


def b64(content):
    return base64.b64encode(content).decode()


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
        (changed(K=11), "K must lie in 0 to 10"),
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
    client = Client(demo.application(served, demo._names("127.0.0.1")))
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
    assert "must be 400 at the most" in response.json["error"]


def test_other_addresses_and_methods_are_not_there(client):
    for response in (client.get("/etc/passwd"), client.get(demo.PREDICT)):
        assert response.status_code == 404 and "error" in response.json


def test_requests_beyond_a_number_are_sent_away(exported, monkeypatch):
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


def test_an_export_is_found_or_its_absence_told(exported, tmp_path):
    assert demo.load(exported[0] / "export" / "1").card["K"] == 5
    for path in (tmp_path, tmp_path / "nothing", exported[0]):
        with pytest.raises(UserError, match="is no export"):
            demo.load(path)


def test_a_port_that_is_taken_is_told():
    served = demo.Served(tf.Module(), {})
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UserError, match=f"127.0.0.1, port {port}"):
            demo.server(served, port=port)


@pytest.mark.parametrize(
    "argv, message",
    [
        ([], "--export=DIR is needed"),
        (["--export=x", "--port=70000"], "--port=70000"),
        (["--exports=x"], "export"),
        (["--export=/nowhere"], "/nowhere is no export"),
    ],
)
def test_a_wrong_command_is_explained(argv, message):
    with pytest.raises(UserError, match=message):
        verb.demo(argv)


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.delitem(sys.modules, "srmcmc_tf.serving.demo")
    monkeypatch.delattr(srmcmc_tf.serving, "demo")
    monkeypatch.setitem(sys.modules, "waitress", None)
    with pytest.raises(UserError, match=r"srmcmc_tf\[serve\]"):
        verb.demo(["--export=x"])


@pytest.fixture(scope="module")
def address(exported):
    """bin/demo as a user starts it, on a free port."""
    process = subprocess.Popen(
        [
            sys.executable,
            ROOT / "bin" / "demo",
            f"--export={exported[0] / 'export'}",
            "--port=0",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that run in the background pass on an ignored Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    line = process.stdout.readline()
    assert line.startswith("http://127.0.0.1:"), process.stderr.read()
    yield line.split()[0]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == ""


POST = b"POST /v1/models/model:predict HTTP/1.1\r\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\xff" * 100 + b"\r\n\r\n",
        POST + b"Content-Length: x\r\n\r\n",
        POST + b"Content-Length: 99\r\n\r\n{",
        b"GET /" + b"a" * 100_000,
        POST + b"Content-Length: 99999999999\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_malformed_requests_are_survived(address, content):
    port = int(address.rstrip("/").rsplit(":")[-1])
    answer = b""
    with (
        socket.create_connection(("127.0.0.1", port), timeout=60) as to,
        contextlib.suppress(OSError),  # the server may hang up at any moment
    ):
        to.sendall(content)
        to.shutdown(socket.SHUT_WR)
        answer = to.recv(1000)
    assert b" 200 " not in answer
    with urllib.request.urlopen(address, timeout=60) as page:
        assert b"short-run MCMC" in page.read()


@pytest.mark.skipif(
    None in CHROMIUM, reason="needs chromium and chromedriver on the PATH"
)
def test_the_page_in_a_browser(address, client, tmp_path):
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM[0]
    for flag in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        f"user-data-dir={tmp_path / 'profile'}",
    ):
        options.add_argument(f"--{flag}")
    service = webdriver.ChromeService(CHROMIUM[1])
    with webdriver.Chrome(options, service) as browser:
        page = Page(browser, WebDriverWait(browser, 60))
        browser.get(address)
        sample(page, client)
        interpolate(page, client)
        reconstruct(page, client, tmp_path)
        assert browser.get_log("browser") == []
        errors(page)


class Page:
    """What a person sees of the page, and does on it."""

    def __init__(self, browser, wait):
        self.browser, self.wait = browser, wait

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def shows(self, selector, expected):
        """Waits until the pictures at `selector` are the expected files."""
        urls = [f"data:image/png;base64,{e['b64']}" for e in expected]
        script = (
            "return [...document.querySelectorAll(arguments[0])]"
            ".map(image => image.complete && image.naturalWidth && image.src)"
        )
        self.wait.until(lambda b: b.execute_script(script, selector) == urls)

    def enter(self, selector, value):
        script = (
            "const element = document.querySelector(arguments[0]);"
            "element.value = arguments[1];"
            "for (const kind of ['input', 'change'])"
            "  element.dispatchEvent(new Event(kind, {bubbles: true}));"
        )
        self.browser.execute_script(script, selector, value)


def sample(page, client):
    for seed, K in ((0, 3), (20, 3), (20, 5)):
        page.enter("#sample [name=seed]", seed)
        page.enter("#sample [name=K]", K)
        inputs = {"seeds": list(range(seed, seed + 8)), "K": K}
        files = outputs(client, "sample", inputs, "png_bytes")
        page.shows("#sample img", files)
    f = outputs(client, "energy_png", {"png_bytes": files})
    assert f"seed 20\nf = {f[0]:.3f}" in page.find("#sample").text
    page.find("#sample button").click()
    inputs = {"seeds": list(range(28, 36)), "K": 5}
    page.shows("#sample img", outputs(client, "sample", inputs, "png_bytes"))


def interpolate(page, client):
    page.enter("#interpolate [name=second]", 7)
    ends = [
        outputs(
            client,
            "interpolate",
            {"seeds_1": [seed], "seeds_2": [seed], "rho": [1.0]},
            "png_bytes",
        )[0]
        for seed in (0, 7)
    ]
    for place, end in ((0, ends[0]), (16, ends[1])):
        page.enter("#interpolate [name=place]", place)
        page.shows("#interpolate .large img", end)
    assert "rho = 0.000" in page.find("#interpolate").text


def reconstruct(page, client, tmp_path):
    write_images(tmp_path, random_images(1))
    page.enter("#reconstruct [name=iterations]", 9)
    file = tmp_path / "0000.png"
    page.find("#reconstruct [name=file]").send_keys(str(file))
    page.wait.until(lambda _: "MSE" in page.find("#reconstruct").text)
    inputs = {"png_bytes": [{"b64": b64(file.read_bytes())}], "iterations": 9}
    found = outputs(client, "reconstruct_png", inputs, "png_bytes", "mse")
    page.shows("#reconstruct figure + figure img", found["png_bytes"])
    f = outputs(client, "energy_png", {"png_bytes": inputs["png_bytes"]})
    text = page.find("#reconstruct").text
    assert f"yours\nf = {f[0]:.3f}" in text
    assert f"MSE = {found['mse'][0]:.4f}" in text


def errors(page):
    """What the model refuses is told on the page."""
    page.enter("#reconstruct [name=iterations]", 201)
    message = page.find("#message")
    page.wait.until(lambda _: "iterations must lie in 0 to 200" in message.text)
    page.enter("#reconstruct [name=iterations]", 1)
    page.wait.until(lambda _: message.text == "")

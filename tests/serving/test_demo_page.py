"""bin/demo as a user starts it, and its page in a browser."""

import contextlib
import json
import pathlib
import re
import shutil
import socket
import urllib.error
import urllib.request

import pytest
import tensorflow as tf
from demo_client import b64, outputs
from helpers import random_images, write_images

CHROMIUM = [shutil.which(name) for name in ("chromium", "chromedriver")]
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


@pytest.mark.slow
def test_memory_is_flat_over_2000_requests(demo):
    address, process = demo
    (image,) = random_images(1)
    png = {"b64": b64(tf.io.encode_png(image).numpy())}
    asked = [
        {"signature_name": "sample", "instances": [1, 2, 3]},
        {"signature_name": "energy_png", "inputs": [png]},
        {"signature_name": "sample", "inputs": {"seeds": [1], "K": "x"}},
        {
            "signature_name": "reconstruct_png",
            "inputs": {"png_bytes": [png], "iterations": 2},
        },
    ]
    sizes = []
    for i in range(2001):
        body = json.dumps(asked[i % len(asked)]).encode()
        with contextlib.suppress(urllib.error.HTTPError):  # of the third kind
            url = f"{address}v1/models/model:predict"
            urllib.request.urlopen(url, body, timeout=60).read()
        if i % 500 == 0:
            sizes.append(resident_megabytes(process.pid))
    print("MB after 0, 500, ... 2,000 requests:", sizes)
    assert sizes[-1] - sizes[1] < 10


def resident_megabytes(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", text).group(1)) // 1024


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
        inputs = {"seeds": list(range(seed, seed + 16)), "K": K}
        files = outputs(client, "sample", inputs, "png_bytes")
        page.shows("#sample img", files)
    f = outputs(client, "energy_png", {"png_bytes": files})
    assert f"seed 20\nf = {f[0]:.3f}" in page.find("#sample").text
    for button, first in (("next", 36), ("previous", 20)):
        page.find(f"#sample [name={button}]").click()
        inputs = {"seeds": list(range(first, first + 16)), "K": 5}
        files = outputs(client, "sample", inputs, "png_bytes")
        page.shows("#sample img", files)
    for seed in (22, 25):  # interpolates between them
        page.find(f"#sample [data-seed='{seed}']").click()
    first, second = (
        page.find(f"#interpolate [name={name}]").get_property("value")
        for name in ("first", "second")
    )
    assert (first, second) == ("22", "25")


def interpolate(page, client):
    page.enter("#interpolate [name=first]", 0)
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
    assert f"MSE = {found['mse'][0]:.4f}" in text and "difference" in text


def errors(page):
    """The page shows why the model rejects a request."""
    page.enter("#reconstruct [name=iterations]", 201)
    message = page.find("#message")
    text = "iterations must be between 0 and 200"
    page.wait.until(lambda _: text in message.text)
    page.enter("#reconstruct [name=iterations]", 1)
    page.wait.until(lambda _: message.text == "")

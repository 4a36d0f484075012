"""Fixtures of the served model: in this process, and as bin/demo."""

import signal
import subprocess
import sys

import pytest
from helpers import ROOT
from werkzeug.test import Client

from srmcmc_tf.serving import served
from srmcmc_tf.serving.application import application
from srmcmc_tf.serving.queue import Queue


@pytest.fixture(scope="session")
def model(exported):
    """The exported model, loaded."""
    return served.load(exported[0] / "export")


@pytest.fixture(scope="session")
def client(model):
    """Requests to the application, without a server."""
    return Client(application(model, Queue(4, 4, 60)))


@pytest.fixture(scope="module")
def demo(exported):
    """bin/demo as a user starts it, on a free port: address and process."""
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
    yield line.split()[0], process
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == ""


@pytest.fixture(scope="module")
def address(demo):
    return demo[0]

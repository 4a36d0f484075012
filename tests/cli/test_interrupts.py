import signal
import subprocess
import sys
import time

import pytest
from helpers import ROOT

from srmcmc_tf.cli import app, interrupts

WAIT = """
import sys, time
from srmcmc_tf.cli import app, interrupts
def main(argv):
    if argv:
        interrupts.interrupt()
    print("ready", flush=True)
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        raise ValueError("hidden")  # as libraries do
    return 0
app.run("paint", main)
"""


@pytest.mark.parametrize("started", [[], ["started"]])
def test_ctrl_c_is_one_line_before_and_after_the_start(started):
    process = subprocess.Popen(
        [sys.executable, "-c", WAIT, *started],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "paint: interrupted\n")


def test_an_ignored_signal_stays_ignored_and_handlers_are_restored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(SystemExit):
            app.run("paint", lambda argv: interrupts.interrupt() or 0)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    with interrupts.restored():
        interrupts.interrupt()
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before

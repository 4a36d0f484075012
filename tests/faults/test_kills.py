"""Every command, interrupted at random moments: later calls end as if not."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from faults import damage
from faults.conftest import COMMANDS, TRAINED
from helpers import ROOT, assert_same_run, flags

pytestmark = pytest.mark.faults
KILLS = 4


def assert_same_file(a, b):
    if a.suffix == ".npz":
        with np.load(a) as first, np.load(b) as second:
            assert first.files == second.files
            for name in first.files:
                np.testing.assert_array_equal(first[name], second[name], name)
    else:
        assert a.read_bytes() == b.read_bytes()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_killed_at_random_ends_in_the_same_bits(
    command, trained, finished, zygote, judge, count, tmp_path
):
    run = damage.copy(trained[0], tmp_path / "run")
    args, files = COMMANDS[command]
    moments = random.Random(command)
    for _ in range(KILLS):
        seconds = finished[1][command] * moments.uniform(0.02, 1.1)
        workdir = f"--workdir={run}"
        ended = zygote.interrupt(
            seconds, signal.SIGKILL, command, workdir, *args
        )
        judge(ended, codes=(0, -signal.SIGKILL))
        count("interruptions survived")
    ended = judge(zygote.run(command, f"--workdir={run}", *args), codes=(0,))
    for name in files:
        assert_same_file(run / name, finished[0] / name)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_interrupted_at_random_ends_in_the_same_bits(
    number, trained, zygote, judge, count, tmp_path
):
    path, whole = trained
    run = tmp_path / "run"
    args = f"--workdir={run}", *flags(**TRAINED)
    moments = random.Random(number)
    for _ in range(2 * KILLS):
        seconds = whole * moments.uniform(0.02, 0.9)
        ended = zygote.interrupt(seconds, number, "train", *args)
        judge(ended, codes=(0, -number, 128 + number))
        count("interruptions survived")
    judge(zygote.run("train", *args), codes=(0,))
    for picture in (run / "samples").iterdir():  # of where it was stopped
        if not (path / "samples" / picture.name).exists():
            picture.unlink()
    assert_same_run(path, run)


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_at_random_is_one_line(
    command, trained, finished, zygote, judge, count, tmp_path
):
    run = damage.copy(trained[0], tmp_path / "run")
    moments = random.Random(f"Ctrl-C {command}")
    for _ in range(2):
        seconds = finished[1][command] * moments.uniform(0.0, 0.9)
        ended = zygote.interrupt(
            seconds,
            signal.SIGINT,
            command,
            f"--workdir={run}",
            *COMMANDS[command][0],
        )
        judge(ended, codes=(0, 130))
        if ended.code:
            assert ended.err.endswith(f"{command}: interrupted\n")
        count("interruptions survived")


@pytest.mark.parametrize("command", ["train", "sample", "demo", "export"])
def test_ctrl_c_while_a_real_command_starts_is_one_line(command, count):
    moments = random.Random(f"start {command}")
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, ROOT / "bin" / command, "--help"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(
                signal.SIGINT, signal.default_int_handler
            ),
        )
        # Before it runs our first line, Python itself shows a trace.
        wait_until_started(process.pid)
        time.sleep(moments.uniform(0, 0.5))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        count("stack traces seen", err.count("Traceback"))
        count("interruptions survived")
        # By the signal itself while Python shuts down, after all was done.
        assert process.returncode in (0, 130, -signal.SIGINT), err
        assert err in ("", f"{command}: interrupted\n")


def wait_until_started(pid):
    """Waits until a process handles Ctrl-C and has read its script."""
    deadline = time.time() + 30
    while time.time() < deadline:
        try:
            with open(f"/proc/{pid}/status") as file:
                caught = re.search(r"SigCgt:\s*(\w+)", file.read())
            with open(f"/proc/{pid}/maps") as file:
                ready = "_posixsubprocess" in file.read()
        except OSError:
            return
        if caught and int(caught[1], 16) & 1 << signal.SIGINT - 1 and ready:
            return
        time.sleep(0.005)


def test_a_hangup_under_nohup_does_not_stop_a_run(zygote, tmp_path, count):
    run = tmp_path / "run"
    process = subprocess.Popen(
        ["nohup", sys.executable, ROOT / "bin" / "train", f"--workdir={run}"]
        + flags(**{**TRAINED, "updates": 60}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while not (run / "metrics.jsonl").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGHUP)
    out, _ = process.communicate(timeout=240)
    count("interruptions survived")
    assert process.returncode == 0 and "update 60 of 60" in out

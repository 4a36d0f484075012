"""One device, two logical devices, two processes: the same run."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf
from helpers import ROOT, assert_same_run, finish, flags, rows, wait_for

from srmcmc_tf.benchmarks.workers import free_addresses
from srmcmc_tf.distribution import cluster, strategies
from srmcmc_tf.errors import UserError

TESTS = ROOT / "tests"
RUN = dict(updates=40, checkpoint_every=3, sample_every=20, ema=0.9)
LOST = "train: error: another worker ended"


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    """The folder in which `two_devices.py` left what it saw."""
    folder = tmp_path_factory.mktemp("devices")
    done = subprocess.run(
        [sys.executable, TESTS / "two_devices.py", "runs", folder],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_a_whole_run_on_two_devices_repeats_that_of_one(devices):
    assert_close_runs(devices / "one", devices / "mirrored")


def test_a_mirrored_run_resumes_in_the_same_bits(devices):
    whole, resumed = devices / "mirrored", devices / "resumed"
    (resumed / "samples" / "000013.png").unlink()  # the end of the first part
    assert_same_run(whole, resumed)


def test_an_export_does_not_name_the_devices_it_was_made_on(devices):
    graph = (devices / "mirrored" / "export/1/saved_model.pb").read_bytes()
    assert b"Conv2D" in graph and b"CPU:1" not in graph


def went_back(workdir):
    """When a run went back, where to, and with which seed."""
    with open(workdir / "interventions.jsonl") as file:
        lines = [json.loads(line) for line in file]
    return [(line["update"], line["back_to"], line["seed"]) for line in lines]


def assert_close_runs(a, b):
    first, second = rows(a), rows(b)
    assert len(first) == len(second) == RUN["updates"]
    assert went_back(a) == went_back(b) != []
    for x, y in zip(first, second, strict=True):
        assert x == pytest.approx(y, rel=1e-3, abs=1e-4)


def start(workdirs, **settings):
    """Starts two workers, each with a run directory; they may be the same."""
    addresses = free_addresses(2)
    processes = []
    for i, workdir in enumerate(workdirs):
        task = {"type": "worker", "index": i}
        jobs = {"worker": addresses}
        env = {"TF_CONFIG": json.dumps({"cluster": jobs, "task": task})}
        weights = workdir.parent / f"weights_{i}.npz"
        args = f"--workdir={workdir}", *flags(**{**RUN, **settings})
        processes.append(
            subprocess.Popen(
                [sys.executable, TESTS / "a_worker.py", weights, *args],
                env={**os.environ, **env},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
        )
    return processes


def end(processes):
    """Exit codes and texts of workers; none is left to hang."""
    try:
        return [finish(process, timeout=240) for process in processes]
    finally:
        for process in processes:
            process.kill()


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A run of two workers that share no directory."""
    folder = tmp_path_factory.mktemp("pair")
    ended = end(start([folder / "run", folder / "not_shared"]))
    assert [code for code, *_ in ended] == [0, 0], ended
    return folder


def test_workers_end_in_equal_weights(pair):
    first, second = (np.load(pair / f"weights_{i}.npz") for i in range(2))
    assert len(first.files) == len(second.files) > 12
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


def test_only_the_chief_writes(pair):
    assert not (pair / "not_shared").exists()
    there = {p.name for p in (pair / "run").iterdir()}
    assert there >= {"config.json", "checkpoints", "samples", "metrics.jsonl"}
    assert [r["update"] for r in rows(pair / "run")] == list(range(1, 41))


def test_two_workers_repeat_the_run_of_one_device(devices, pair):
    assert_close_runs(devices / "one", pair / "run")


def test_a_killed_worker_ends_the_other_and_all_resume_in_the_same_bits(
    pair, tmp_path
):
    workdir = tmp_path / "run"
    processes = start([workdir, workdir])
    wait_for(workdir, 8, processes[0])
    processes[1].kill()
    (code, _, err), (killed, *_) = end(processes)
    assert killed == -signal.SIGKILL and code == 1
    assert LOST in err and "Traceback" not in err
    ended = end(start([workdir, workdir]))
    assert [code for code, *_ in ended] == [0, 0], ended
    assert "resuming from update" in ended[0][1]
    assert_same_run(pair / "run", workdir)


@pytest.mark.slow
def test_a_killed_chief_ends_the_other_and_all_resume_in_the_same_bits(
    pair, tmp_path
):
    workdirs = [tmp_path / "run", tmp_path / "not_shared"]
    processes = start(workdirs)
    wait_for(workdirs[0], 8, processes[0])
    processes[0].kill()
    _, (code, _, err) = end(processes)
    assert code == 1 and LOST in err and "Traceback" not in err
    ended = end(start(workdirs))
    assert [code for code, *_ in ended] == [0, 0], ended
    assert_same_run(pair / "run", workdirs[0])


@pytest.mark.slow
def test_a_polite_signal_to_one_worker_stops_and_saves_all(pair, tmp_path):
    workdir = tmp_path / "run"
    processes = start([workdir, workdir])
    wait_for(workdir, 8, processes[0])
    processes[1].send_signal(signal.SIGTERM)
    ended = end(processes)
    assert [code for code, *_ in ended] == [128 + signal.SIGTERM] * 2, ended
    reached = len(rows(workdir))
    assert (workdir / "checkpoints" / f"{reached:06d}").is_dir()
    assert [code for code, *_ in end(start([workdir, workdir]))] == [0, 0]
    assert_same_run(pair / "run", workdir)


@pytest.mark.slow
def test_workers_with_other_settings_are_refused(tmp_path):
    workdirs = [tmp_path / "run", tmp_path / "other"]
    first = start(workdirs)
    # The second of another command, at the first's addresses.
    environ = dict(
        pair.split(b"=", 1)
        for pair in pathlib.Path(f"/proc/{first[1].pid}/environ")
        .read_bytes()
        .split(b"\0")
        if pair
    )
    first[1].kill()
    args = f"--workdir={workdirs[1]}", *flags(**RUN, K=4)
    other = subprocess.Popen(
        [sys.executable, ROOT / "bin" / "train", *args],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for code, _, err in end([first[0], other]):
        assert code == 1 and "different settings or images" in err


@pytest.mark.parametrize("batch_size, near", [(7, 8), (1, 2)])
def test_a_batch_that_does_not_divide_is_refused_with_the_nearest(
    batch_size, near, monkeypatch
):
    class Two:
        num_replicas_in_sync = 2

    monkeypatch.setattr(strategies, "local", lambda choice: Two())
    with pytest.raises(UserError, match=f"divisible by 2, such as {near}"):
        strategies.create("mirrored", batch_size)
    assert strategies.create("mirrored", 6)


def test_a_single_process_has_nobody_to_wait_for():
    strategy = tf.distribute.get_strategy()
    strategies.wait(strategy)
    strategies.require_same(strategy, "text")
    assert strategies.maximum_over_workers(strategy, 3) == 3
    assert strategies.broadcast_from_chief(strategy, {"a": 1}) == {"a": 1}


def test_one_device_is_no_strategy():
    for choice in ("one", "auto"):
        strategy = strategies.create(choice, 7)
        assert strategy is tf.distribute.get_strategy()


def test_a_lost_worker_is_one_line_and_other_errors_stay():
    team = cluster.Cluster(("worker 0", "worker 1"), ("a:1", "b:1"), 0)
    lost = tf.errors.UnavailableError(None, None, "Socket closed\n...")
    with pytest.raises(UserError, match="another worker ended") as error:
        with strategies.report_lost_workers(team):
            raise lost
    assert "\n" not in str(error.value)
    with pytest.raises(tf.errors.UnavailableError):
        with strategies.report_lost_workers(None):
            raise lost


def test_a_start_that_takes_too_long_ends_with_a_line(monkeypatch, caplog):
    codes = []
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(cluster, "PATIENCE", 0.05)
    with strategies._deadline("they do not connect"):
        time.sleep(0.3)
    assert codes == [1]
    assert "error: they do not connect within 0 s" in caplog.text


def test_a_wrong_tf_config_is_one_line_and_no_wait(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "bin" / "train", f"--workdir={tmp_path}"],
        env={**os.environ, "TF_CONFIG": "{worker: 1}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("train: error: TF_CONFIG is not JSON")

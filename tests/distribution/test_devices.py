"""One device, two logical devices, two processes: the same results and runs."""

import json
import signal

import forked
import numpy as np
import pytest
from helpers import assert_same_run, finish, flags, rows, wait_for
from two_devices import RUN

from srmcmc_tf.benchmarks.workers import free_addresses
from srmcmc_tf.sampling import rng

LOST = "train: error: another worker ended"


def two_devices(what, folder):
    """Runs `two_devices.py`, which leaves what it saw in the folder."""
    process = forked.Command("two_devices", what, folder)
    code, _, err = finish(process, timeout=1200)
    assert code == 0, err
    return folder


@pytest.fixture(scope="module")
def one_and_two(tmp_path_factory):
    """What was computed on one device, and on two."""
    folder = two_devices("results", tmp_path_factory.mktemp("results"))
    return np.load(folder / "one.npz"), np.load(folder / "two.npz")


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    """A folder with runs on one device, on two, and one that resumed."""
    return two_devices("runs", tmp_path_factory.mktemp("runs"))


def test_two_replicas_make_the_update_of_one_device(one_and_two):
    one, two = one_and_two
    weights = [name for name in one if name.startswith("weight")]
    assert len(weights) == 6
    for name in weights:
        np.testing.assert_allclose(two[name], one[name], atol=1e-6)


def test_logged_values_are_those_of_the_global_batch(one_and_two):
    one, two = one_and_two
    logs = [n for n in one if n.split()[0] in ("log", "evaluated")]
    assert len(logs) == 13
    for name in logs:
        np.testing.assert_allclose(two[name], one[name], rtol=2e-5, atol=1e-6)


def test_an_uneven_last_batch_is_that_of_one_device(one_and_two):
    """Also data noise of the model, and losses of the energy, once each."""
    one, two = one_and_two
    names = [name for name in one if name.startswith("uneven")]
    assert len(names) == 18
    for name in names:
        np.testing.assert_allclose(two[name], one[name], rtol=2e-5, atol=1e-5)


def test_labels_go_with_their_rows(one_and_two):
    one, two = one_and_two
    names = [name for name in one if name.startswith("conditional")]
    assert len(names) == 17
    for name in names:
        np.testing.assert_allclose(two[name], one[name], rtol=2e-5, atol=1e-5)


def test_two_replicas_continue_the_bank_of_one_device(one_and_two):
    """Also chains that stop at a level, and a batch that divides unevenly."""
    one, two = one_and_two
    names = [name for name in one if name.startswith("bank")]
    assert len(names) == 8 and two["bank whole bank"].shape[:2] == (2, 20)
    for name in names:
        shared = np.broadcast_to(one[name], two[name].shape)
        np.testing.assert_allclose(two[name], shared, rtol=2e-5, atol=1e-5)


def test_replicas_share_one_bank_and_resume_it_in_the_same_bits(one_and_two):
    two = one_and_two[1]
    for kept in ("bank", "level"):
        np.testing.assert_array_equal(*two[f"bank whole {kept}"])
    for name in [name for name in two if name.startswith("bank whole")]:
        resumed = name.replace("whole", "resumed")
        np.testing.assert_array_equal(two[resumed], two[name])


def test_replicas_keep_the_same_state_of_layers_and_drop_differently(
    one_and_two,
):
    two = one_and_two[1]
    copies = [name for name in two if name.startswith("copies")]
    assert len(copies) == 9
    for name in copies:
        np.testing.assert_array_equal(*two[name])
    assert not np.array_equal(*two["masks"])


def test_metrics_of_replicas_add_up(one_and_two):
    one, two = one_and_two
    names = [name for name in one if name.startswith("score")]
    assert len(names) == 3
    for name in names:
        np.testing.assert_allclose(two[name], one[name], rtol=1e-9)


def test_replicas_draw_the_rows_of_one_batch_all_different(one_and_two):
    draws = one_and_two[1]["draws"]
    whole = rng.stream(0).uniform([6, 8, 8, 1])
    np.testing.assert_array_equal(draws, whole)
    assert len(np.unique(draws)) == draws.size


def test_a_seed_is_the_same_sample_on_any_number_of_devices(one_and_two):
    one, two = one_and_two
    for name in ("samples", "one sample", "trace"):
        assert one[name].shape == two[name].shape
        np.testing.assert_allclose(two[name], one[name], atol=1e-5)


def test_interpolation_and_reconstruction_are_the_same_too(one_and_two):
    one, two = one_and_two
    for name in ("interpolated", "reconstructed"):
        np.testing.assert_allclose(two[name], one[name], atol=1e-5)


def test_a_whole_run_on_two_devices_repeats_that_of_one(devices):
    assert_close_runs(devices / "one", devices / "mirrored")


def test_a_mirrored_run_resumes_in_the_same_bits(devices):
    whole, resumed = devices / "mirrored", devices / "resumed"
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


def start(workdirs):
    """Starts two workers, each with a run directory; they may be the same."""
    addresses = free_addresses(2)
    return [
        start_one(i, workdir, addresses, flags(**RUN))
        for i, workdir in enumerate(workdirs)
    ]


def start_one(i, workdir, addresses, settings):
    """Starts worker `i` of those at the addresses."""
    task = {"type": "worker", "index": i}
    jobs = {"worker": addresses}
    env = {"TF_CONFIG": json.dumps({"cluster": jobs, "task": task})}
    weights = workdir.parent / f"weights_{i}.npz"
    args = weights, f"--workdir={workdir}", *settings
    return forked.Command("a_worker", *args, env=env)


def end(processes):
    """Exit codes and texts of workers; none is left to hang."""
    try:
        return [finish(process, timeout=600) for process in processes]
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
    assert [r["update"] for r in rows(pair / "run")] == list(
        range(1, RUN["updates"] + 1)
    )


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
    addresses = free_addresses(2)
    processes = [
        start_one(i, tmp_path / f"run_{i}", addresses, flags(**RUN, K=3 + i))
        for i in range(2)
    ]
    for code, _, err in end(processes):
        assert code == 1 and "different settings or images" in err

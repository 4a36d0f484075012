"""Real runs of `bin/train`, ended in every way a run can end."""

import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import time

import numpy as np
import pytest
import tensorflow as tf
from helpers import (
    assert_same_run,
    call,
    finish,
    flags,
    random_images,
    rows,
    run,
    start,
    state,
    wait_for,
    write_images,
)

from srmcmc_tf.models import factory
from srmcmc_tf.runs.run import Run

LONG = dict(updates=40, checkpoint_every=3, sample_every=20)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing ended."""
    workdir = tmp_path_factory.mktemp("runs") / "whole"
    code, out, err = run(f"--workdir={workdir}", *flags(**LONG))
    assert code == 0, err
    return workdir, out, err


def test_a_run_leaves_all_that_it_promises(whole):
    workdir, out, err = whole
    there = {p.name for p in workdir.iterdir()}
    assert there >= {
        "config.json",
        "checkpoints",
        "samples",
        "tensorboard",
        "metrics.jsonl",
    }
    assert {p.name for p in (workdir / "samples").iterdir()} == {
        "000020.png",
        "000040.png",
    }
    assert [r["update"] for r in rows(workdir)] == list(range(1, 41))
    for path in ("samples/000040.png", "checkpoints/000040", "tensorboard"):
        assert str(workdir / path) in out
    chatter = [line for line in err.splitlines() if "updates" not in line]
    assert not chatter


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """The first half of it, a run of 20 updates."""
    workdir = tmp_path_factory.mktemp("runs") / "half"
    shorter = flags(**{**LONG, "updates": 20})
    assert call("train", f"--workdir={workdir}", *shorter)[0] == 0
    return workdir


def test_a_run_killed_twice_ends_in_the_same_bits(whole, tmp_path):
    workdir = tmp_path / "killed"
    for update in (5, 26):
        process = start(f"--workdir={workdir}", *flags(**LONG))
        wait_for(workdir, update, process)
        process.kill()
        assert finish(process)[0] == -signal.SIGKILL
    code, out, err = call("train", f"--workdir={workdir}")
    assert code == 0 and "resuming from update" in out, err
    assert_same_run(whole[0], workdir)


@pytest.mark.slow
def test_a_run_killed_25_times_at_random_ends_in_the_same_bits(tmp_path):
    settings = flags(updates=1000, checkpoint_every=3, sample_every=50)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(f"--workdir={whole}", *settings)[0] == 0
    moments = random.Random(0)
    for i in range(25):
        process = start(f"--workdir={killed}", *settings)
        if i % 5:  # some while it starts, most on its way
            wait_for(killed, 38 * i, process)
        time.sleep(moments.uniform(0, 2))
        process.kill()
        assert finish(process)[0] == -signal.SIGKILL, "it had ended before"
    assert len(rows(killed)) < 1000
    code, _, err = run(f"--workdir={killed}", *settings)
    assert code == 0, err
    assert_same_run(whole, killed)


def test_a_kill_while_a_checkpoint_is_written_loses_nothing(whole, tmp_path):
    workdir = tmp_path / "killed"
    process = start(
        f"--workdir={workdir}", *flags(**{**LONG, "checkpoint_every": 1})
    )
    while not any(workdir.glob("checkpoints/.*.srmcmc-tmp/*")):
        assert process.poll() is None, "it was never seen to write"
        time.sleep(0.001)
    process.kill()
    finish(process)
    code, _, err = call("train", f"--workdir={workdir}")
    assert code == 0, err
    for name, value in state(whole[0]).items():
        np.testing.assert_array_equal(value, state(workdir)[name], name)


def test_a_damaged_checkpoint_costs_time_and_nothing_else(
    whole, half, tmp_path
):
    workdir = shutil.copytree(half, tmp_path / "damaged")
    newest = workdir / "checkpoints" / "000020"
    data = next(newest.glob("state.data*"))
    content = bytearray(data.read_bytes())
    content[len(content) // 3] ^= 4
    data.write_bytes(content)
    code, out, err = call("train", f"--workdir={workdir}", "--updates=40")
    assert code == 0 and "resuming from update 18" in out
    assert f"warning: cannot restore {newest}" in err
    assert_same_run(whole[0], workdir)


def test_polite_signals_save_first_and_say_how_to_resume(whole, tmp_path):
    workdir = tmp_path / "stopped"
    for number, update in ((signal.SIGTERM, 4), (signal.SIGINT, 12)):
        process = start(f"--workdir={workdir}", *flags(**LONG))
        wait_for(workdir, update, process)
        process.send_signal(number)
        code, out, err = finish(process)
        assert code == 128 + number
        assert "Traceback" not in err and f"--workdir={workdir}" in out.replace(
            os.path.relpath(workdir), str(workdir)
        )
        reached = len(rows(workdir))
        assert (workdir / "checkpoints" / f"{reached:06d}").is_dir()
    assert call("train", f"--workdir={workdir}")[0] == 0
    assert_same_run(whole[0], workdir)


def test_a_longer_run_repeats_the_shorter(whole, half, tmp_path):
    workdir = shutil.copytree(half, tmp_path / "grown")
    code, _, err = call("train", f"--workdir={workdir}", "--updates=40")
    assert code == 0, err
    assert_same_run(whole[0], workdir)


def test_a_finished_run_says_so_and_changes_nothing(whole):
    workdir = whole[0]
    before = (workdir / "metrics.jsonl").read_bytes()
    code, out, _ = call("train", f"--workdir={workdir}")
    assert code == 0 and "update 40 of 40" in out
    assert (workdir / "metrics.jsonl").read_bytes() == before


def test_other_settings_are_refused_and_listed(whole):
    code, _, err = run(
        f"--workdir={whole[0]}", "--K=4", "--sigma=0.2", "--updates=9"
    )
    assert code == 1 and len(err.splitlines()) == 1
    for text in ("--K=4 (the run has 3)", "--sigma=0.2", "--updates=9"):
        assert text in err


def test_a_directory_of_something_else_is_not_touched(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    code, _, err = run(f"--workdir={tmp_path}", *flags())
    assert code == 1 and "other files" in err and len(err.splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_two_runs_in_one_directory_are_refused(half):
    with Run(half).lock():
        code, _, err = call("train", f"--workdir={half}")
    assert code == 1 and "another process is training" in err


@contextlib.contextmanager
def largest_file(size):
    """Lets no file grow past some bytes, as on a full disk."""
    before, hardest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hardest))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hardest))


def test_a_full_disk_keeps_the_last_checkpoint(tmp_path):
    workdir = tmp_path / "full"
    begin = f"--workdir={workdir}", *flags(n_f=32, updates=3)
    code, _, err = call("train", *begin)
    assert code == 0, err

    more = f"--workdir={workdir}", "--updates=6"
    with largest_file(100_000):  # a checkpoint has 400 kB
        code, _, err = call("train", *more)
    assert code == 1 and "Traceback" not in err
    assert "000005 (File too large); " in err and "000003 is kept" in err
    assert [p.name for p in (workdir / "checkpoints").iterdir()] == ["000003"]
    assert call("train", *more)[0] == 0


def test_a_full_disk_is_not_taken_for_the_end_of_the_run(tmp_path):
    workdir = tmp_path / "full"
    settings = flags(updates=2000, checkpoint_every=2000, sample_every=2000)
    # TensorBoard's file grows past it before there is a checkpoint.
    with largest_file(30_000):
        code, _, err = call("train", f"--workdir={workdir}", *settings)
    (line,) = [line for line in err.splitlines() if "error:" in line]
    assert code == 1 and f"cannot write to {workdir}" in line
    assert "File too large" in line and "Free disk space" in line
    assert "Traceback" not in err and "ran out of data" not in err


def test_a_directory_that_cannot_be_made_gives_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run(f"--workdir={tmp_path / 'file' / 'run'}", *flags())
    assert code == 1 and len(err.splitlines()) == 1 and "file" in err


def test_a_divergence_stops_names_the_update_and_keeps_the_checkpoint(tmp_path):
    workdir = tmp_path / "run"
    wild = dict(step_size=1e6, learning_rate=1.0, learning_rate_half_life=0)
    wild["guard"] = "off"
    settings = flags(**wild, updates=2000, checkpoint_every=10)
    code, _, err = call("train", f"--workdir={workdir}", *settings)
    assert code == 1
    (line,) = [line for line in err.splitlines() if "error:" in line]
    stopped, newest = re.search(
        r"update (\d+): .*checkpoints/(\d+)", line
    ).groups()
    assert int(newest) == (int(stopped) - 1) // 10 * 10
    numbers = [v for v in state(workdir).values() if np.ndim(v)]
    assert len(numbers) > 12 and all(np.isfinite(v).all() for v in numbers)


def test_changed_data_are_refused(tmp_path):
    workdir = tmp_path / "run"
    images = tmp_path / "images"
    write_images(images, random_images(30))
    data = [
        "--dataset=folder",
        f"--data_dir={images}",
        "--image_size=8",
        "--channels=1",
    ]
    assert call("train", f"--workdir={workdir}", *data, *flags())[0] == 0
    write_images(images, random_images(30, seed=1))
    code, _, err = call("train", f"--workdir={workdir}", "--updates=20")
    assert code == 1 and "data" in err and "have changed" in err


def test_a_model_too_large_for_the_memory_is_one_line(tmp_path, monkeypatch):
    def build(config):  # long before `fit` is called
        raise tf.errors.ResourceExhaustedError(None, None, "OOM of 32 GB")

    monkeypatch.setattr(factory, "build", build)
    code, _, err = call("train", f"--workdir={tmp_path / 'run'}", *flags())
    assert code == 1 and err.startswith("train: error: out of memory (OOM")
    assert len(err.splitlines()) == 1 and "smaller --batch_size" in err


def test_a_conditional_run_resumes_in_the_same_bits(tmp_path):
    for name, ends in (("whole", [6]), ("resumed", [3, 6])):
        for updates in ends:
            settings = flags(updates=updates, sample_every=10)
            workdir = f"--workdir={tmp_path / name}"
            code, _, err = call("train", workdir, "--conditional", *settings)
            assert code == 0, err
    config = json.loads((tmp_path / "whole" / "config.json").read_text())
    assert config["classes"] == 10
    first, second = state(tmp_path / "whole"), state(tmp_path / "resumed")
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], name)
    logged = [rows(tmp_path / name) for name in ("whole", "resumed")]
    assert logged[0] == logged[1] and 0 <= logged[0][-1]["accuracy"] <= 1


def test_unlabeled_data_have_no_classes(tmp_path):
    write_images(tmp_path / "images", random_images(20))
    folder = ["--dataset=folder", f"--data_dir={tmp_path / 'images'}"]
    folder += ["--image_size=8", "--channels=1"]
    for given, line in (
        (folder, "--conditional: folder has no labels; put the images of"),
        (["--classes=3"], "--classes=3: digits has 10 classes"),
    ):
        workdir = f"--workdir={tmp_path / 'run'}"
        code, _, err = call("train", workdir, "--conditional", *flags(), *given)
        assert code == 1 and line in err and len(err.splitlines()) == 1

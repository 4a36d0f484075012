"""The guard at work: forced divergence in process, real ones in real runs."""

import dataclasses
import json
import time

import pytest
import tensorflow as tf
from helpers import (
    TINY,
    assert_same_run,
    divergence_at,
    events,
    finish,
    rows,
    run,
    start,
    wait_for,
)

from srmcmc_tf.config import presets
from srmcmc_tf.errors import UserError
from srmcmc_tf.models import schedules
from srmcmc_tf.runs import checkpoints, interventions
from srmcmc_tf.runs.interventions import Interventions
from srmcmc_tf.training import train
from srmcmc_tf.training.guard import rollback
from srmcmc_tf.training.guard.judge import Judge

TINY_RUN = dataclasses.replace(
    presets.load("digits"),
    **{**TINY, "updates": 30, "checkpoint_every": 3, "sample_every": 30},
)
# Diverges in the first 400 updates, whatever the seed.
WILD = dict(
    K=5,
    n_f=32,
    sigma=0.05,
    learning_rate=2e-3,
    learning_rate_half_life=0,
    sigma_half_life=0,
    updates=1200,
    checkpoint_every=100,
    sample_every=400,
)


class Killed(BaseException):
    """As if by kill -9: nothing more is written."""


def lines(workdir):
    path = workdir / "interventions.jsonl"
    return [json.loads(line) for line in open(path)] if path.exists() else []


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that went back twice and was never killed."""
    workdir = tmp_path_factory.mktemp("runs") / "whole"
    with divergence_at(16, 18):
        train.train(TINY_RUN, workdir)
    return workdir


def kill(config, workdir, number, update, monkeypatch):
    """Trains until an update of the branch after so many interventions."""
    honest = Judge.on_update

    def on_update(self, here, logs):
        if (len(lines(workdir)), here) == (number, update):
            raise Killed
        honest(self, here, logs)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Judge, "on_update", on_update)
        train.train(config, workdir)


def test_a_run_goes_back_and_comes_through(whole):
    first, second = lines(whole)
    assert [first["update"], second["update"]] == [16, 18]
    assert [first["back_to"], second["back_to"]] == [6, 12]
    assert len({1, first["seed"], second["seed"]}) == 3
    # The second time, at about the same place: a larger sigma.
    assert first["sigma_least"] == 0
    assert second["sigma_least"] == pytest.approx(1.4 * second["sigma"])
    sigmas = [row["sigma"] for row in rows(whole)]
    assert min(sigmas[12:]) >= second["sigma_least"] * 0.9999
    assert [row["update"] for row in rows(whole)] == list(range(1, 31))
    found = events(whole)
    # Each is in a file of its own, and files of one second have no order.
    shown = {
        event.step: float(tf.make_ndarray(event.tensor_proto))
        for event in found.Tensors("guard/update_of_intervention")
    }
    assert shown == {1: 16, 2: 18}
    assert "back to update 12" in str(found.Tensors("guard/intervention"))


def test_a_run_killed_around_interventions_ends_in_the_same_bits(
    whole, tmp_path, monkeypatch
):
    with divergence_at(16, 18):
        for number, update in [(0, 14), (1, 8), (2, 13)]:
            kill(TINY_RUN, tmp_path, number, update, monkeypatch)
        train.train(TINY_RUN, tmp_path)
    assert lines(tmp_path) == lines(whole)
    assert_same_run(whole, tmp_path)


@pytest.mark.slow
def test_a_run_killed_in_an_intervention_ends_in_the_same_bits(
    whole, tmp_path, monkeypatch
):
    honest = Interventions.write

    def write(self, written):
        if len(written) == 2:  # its checkpoints are discarded already
            raise Killed
        honest(self, written)

    with divergence_at(16, 18):
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(Interventions, "write", write)
            train.train(TINY_RUN, tmp_path)
        train.train(TINY_RUN, tmp_path)
    assert lines(tmp_path) == lines(whole)
    assert_same_run(whole, tmp_path)


def test_a_stop_between_checkpoints_does_not_change_where_it_goes_back(
    whole, tmp_path
):
    with divergence_at(16, 18):
        train.train(dataclasses.replace(TINY_RUN, updates=10), tmp_path)
        train.train(TINY_RUN, tmp_path)
    assert lines(tmp_path) == lines(whole)
    # Its end at 10 left a picture more.
    (tmp_path / "samples" / "000010.png").unlink()
    assert_same_run(whole, tmp_path)


def test_interventions_are_limited_and_the_good_checkpoint_is_kept(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(interventions, "MAXIMUM", 0)
    refused = pytest.raises(UserError, match="rolling back 0 times")
    with divergence_at(16), refused as error:
        train.train(TINY_RUN, tmp_path)
    assert str(tmp_path / "checkpoints" / "000006") in str(error.value)
    assert checkpoints.Checkpoints(tmp_path / "checkpoints").updates() == [6]
    assert not lines(tmp_path)


def test_a_calm_run_has_the_same_bits_without_the_guard(whole, tmp_path):
    off = dataclasses.replace(TINY_RUN, guard="off", updates=6)
    train.train(off, tmp_path)
    guarded = rows(whole)[:6]  # before its first intervention
    for row, other in zip(rows(tmp_path), guarded, strict=True):
        assert row.items() <= other.items()


@pytest.mark.slow
def test_sigma_auto_is_the_same_in_a_run_that_was_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(schedules.AutoSigma, "WINDOW", 12)
    auto = dataclasses.replace(
        TINY_RUN, sigma="auto", updates=60, learning_rate=5e-3
    )
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with divergence_at(50):
        train.train(auto, whole)
    with divergence_at(50):
        for number, update in ((0, 26), (1, 53)):
            kill(auto, killed, number, update, monkeypatch)
        train.train(auto, killed)
    assert_same_run(whole, killed)
    sigmas = [row["sigma"] for row in rows(whole)]
    assert sigmas[23] == sigmas[0] == pytest.approx(0.2)
    assert sigmas[24] < sigmas[23] and len(set(sigmas[24:36])) == 1
    (line,) = lines(whole)
    assert sigmas[-1] == pytest.approx(line["sigma_least"])


@pytest.mark.parametrize(
    "every, update, there, back_to",
    [
        (500, 1800, [1000, 1500], 1500),
        (500, 1510, [1000, 1500], 1000),
        (500, 1510, [1000, 1500, 1505], 1000),  # 1505 is of a signal
        (500, 510, [500], 0),
        (500, 300, [], 0),
        (500, 1510, [1500], 1500),
        (50, 630, [400, 550, 600], 400),
        (50, 590, [200, 400, 550], 200),
    ],
)
def test_the_last_good_checkpoint_has_had_calm_after_it(
    every, update, there, back_to, tmp_path
):
    for number in there:
        (tmp_path / f"{number:06d}").mkdir()
    there = checkpoints.Checkpoints(tmp_path)
    assert rollback._last_good(there, every, update) == back_to


def test_what_a_run_may_go_back_to_is_kept():
    assert rollback.kept(500, 1500) == {500, 1000, 1500}
    assert rollback.kept(50, 550) == {0, 200, 400}


def test_branches_of_a_seed_are_its_own():
    seeds = [rollback.branch_seed(s, n) for s in (1, 2) for n in range(11)]
    assert len(set(seeds)) == 22 and rollback.branch_seed(1, 0) == 1
    assert all(0 <= seed < 2**31 for seed in seeds)


def wild(workdir, **changes):
    settings = {**WILD, **changes}
    flags = [f"--{name}={value}" for name, value in settings.items()]
    return [f"--workdir={workdir}", *flags]


@pytest.mark.slow
def test_a_wild_run_diverges_without_the_guard_and_not_with_it(tmp_path):
    code, _, err = run(*wild(tmp_path / "off", guard="off"), timeout=600)
    assert code == 0, err  # finite to the end, and worthless
    last = rows(tmp_path / "off")[-1]
    assert last["out_of_range"] > 0.99 and last["f_prime_norm"] > 1e4

    code, out, err = run(*wild(tmp_path / "on"), timeout=600)
    assert code == 0 and "intervention 2 of at most 10" in out, err
    last = rows(tmp_path / "on")[-1]
    assert last["out_of_range"] < 0.6 and last["f_prime_norm"] < 10

    # Killed before the first intervention, at it and after it: the same bits.
    workdir = tmp_path / "killed"
    for number, update in ((0, 150), (1, 0), (1, 100)):
        process = start(*wild(workdir))
        deadline = time.time() + 300
        while len(lines(workdir)) < number and time.time() < deadline:
            time.sleep(0.01)
        wait_for(workdir, update, process)
        process.kill()
        finish(process)
    code, _, err = run(*wild(workdir), timeout=600)
    assert code == 0, err
    assert lines(workdir) == lines(tmp_path / "on")
    assert_same_run(tmp_path / "on", workdir)

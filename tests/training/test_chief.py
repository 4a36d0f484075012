import dataclasses

import pytest
from helpers import TINY, divergence_at, random_images

from srmcmc_tf.config import presets
from srmcmc_tf.distribution import strategies
from srmcmc_tf.errors import UserError
from srmcmc_tf.models.divergence import Divergence
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import chief
from srmcmc_tf.training.callbacks.log import Log
from srmcmc_tf.training.callbacks.stop import StopOnSignal
from srmcmc_tf.training.session import Session

CONFIG = dataclasses.replace(
    presets.load("digits"), **{**TINY, "checkpoint_every": 3, "updates": 9}
)


def session():
    images = random_images(40)
    return Session(CONFIG, images, strategies.local("one"), StopOnSignal())


def test_a_divergence_closes_the_files_and_rolls_back_before_it_is_raised(
    tmp_path, monkeypatch
):
    closed = []
    close = Log.close
    monkeypatch.setattr(Log, "close", lambda s: closed.append(1) or close(s))
    run = Run(tmp_path / "run")
    with run.lock(), divergence_at(8), pytest.raises(Divergence):
        run.save_config(CONFIG, "0123")
        chief.attempt(session(), run)
    assert closed and [i["update"] for i in run.interventions.up_to(99)] == [8]
    assert run.checkpoints.updates() == []  # back to the start
    assert len(run.metrics()) == 7  # the diverged update is not logged


def test_a_disk_that_cannot_be_written_is_one_line(tmp_path, monkeypatch):
    def full(self, update, logs):
        raise OSError(28, "No space left on device", "metrics.jsonl")

    monkeypatch.setattr(Log, "on_update", full)
    run = Run(tmp_path / "run")
    with run.lock(), pytest.raises(UserError) as error:
        run.save_config(CONFIG, "0123")
        chief.attempt(session(), run)
    text = "cannot write to metrics.jsonl (No space left on device)"
    assert text in str(error.value) and "\n" not in str(error.value)

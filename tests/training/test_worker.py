import dataclasses

from helpers import TINY, random_images

from srmcmc_tf.config import presets
from srmcmc_tf.distribution import strategies
from srmcmc_tf.training import worker
from srmcmc_tf.training.callbacks.stop import StopOnSignal
from srmcmc_tf.training.session import Session


def test_a_worker_takes_the_chiefs_state_and_writes_nothing(
    tmp_path, monkeypatch, caplog
):
    """Two real workers: tests/distribution/test_strategies.py."""
    config = dataclasses.replace(
        presets.load("digits"), **{**TINY, "updates": 2}
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        strategies, "broadcast_from_chief", lambda strategy, value: [[], {}]
    )
    one = strategies.local("one")
    worker.attempt(Session(config, random_images(40), one, StopOnSignal()))
    assert "update 2 of 2; the chief has written all files" in caplog.text
    assert not list(tmp_path.iterdir())

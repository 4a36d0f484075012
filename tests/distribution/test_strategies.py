import os
import subprocess
import sys
import time

import pytest
import tensorflow as tf
from helpers import ROOT

from srmcmc_tf.distribution import cluster, strategies
from srmcmc_tf.errors import UserError


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

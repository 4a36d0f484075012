"""Two logical devices compute what one does, row by row."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from helpers import ROOT

from srmcmc_tf.distribution import replicas
from srmcmc_tf.sampling import rng


@pytest.fixture(scope="module")
def one_and_two(tmp_path_factory):
    """What `two_devices.py` computed on one device, and on two."""
    folder = tmp_path_factory.mktemp("devices")
    script = ROOT / "tests" / "two_devices.py"
    done = subprocess.run(
        [sys.executable, script, "results", folder],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return np.load(folder / "one.npz"), np.load(folder / "two.npz")


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


def test_a_single_replica_owns_all_rows_and_the_whole_sum():
    stream, gradient = rng.stream(3), [tf.constant([1.0, 2.0])]
    x, rows = replicas.own_rows(tf.zeros([8, 2]))
    assert rows.stream(stream) is stream and rows.n == rows.total == 8
    assert replicas.total(gradient) is gradient
    values = {"f": tf.constant(1.0)}
    assert rows.logs(values) is values


def test_one_device_shares_nothing():
    strategy = tf.distribute.get_strategy()
    assert replicas.share_rows(strategy, abs) is abs
    assert not replicas.is_multi_worker(strategy)

"""Saved state is resumed by the same request only."""

import numpy as np

from srmcmc_tf.evaluation import partial


def test_the_same_request_gets_its_arrays_back(tmp_path):
    path = tmp_path / "state.part"
    partial.save(path, "fid of set 1", {"x": np.arange(3)})
    arrays = partial.load(path, "fid of set 1")
    np.testing.assert_array_equal(arrays["x"], np.arange(3))
    assert partial.load(path, "fid of set 2") is None


def test_nothing_is_resumed_without_a_file(tmp_path):
    assert partial.load(None, "fid") is None
    assert partial.load(tmp_path / "missing.part", "fid") is None
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    assert partial.load(tmp_path / "other.npz", "fid") is None

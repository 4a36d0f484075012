"""An npz is complete or absent."""

import numpy as np
import pytest

from srmcmc_tf.files import npz


def test_saved_arrays_are_loaded_by_name(tmp_path):
    path = tmp_path / "new" / "file.npz"
    npz.save(path, {"x": np.arange(3), "text": "some"})
    arrays = npz.load(path)
    np.testing.assert_array_equal(arrays["x"], np.arange(3))
    assert str(arrays["text"]) == "some"
    assert [p.name for p in path.parent.iterdir()] == ["file.npz"]


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b"", None])
def test_a_damaged_or_missing_file_counts_as_none(damage, tmp_path):
    path = tmp_path / "file.npz"
    if damage:
        npz.save(path, {"x": np.arange(99)})
        path.write_bytes(damage(path.read_bytes()))
    assert npz.load(path) is None


def test_a_failed_write_keeps_the_old_file(tmp_path):
    class Broken:
        def __array__(self, *args, **kwargs):
            raise OSError("no space left")

    path = tmp_path / "file.npz"
    npz.save(path, {"x": np.arange(3)})
    with pytest.raises(OSError, match="no space"):
        npz.save(path, {"x": np.zeros(3), "y": Broken()})
    np.testing.assert_array_equal(npz.load(path)["x"], np.arange(3))
    assert len(list(tmp_path.iterdir())) == 1

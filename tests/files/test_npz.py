"""An npz is complete or absent."""

import io
import os
import pathlib
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def npy(array, claim=None):
    """The bytes of an npy file; `claim` replaces the shape it states."""
    buffer = io.BytesIO()
    header = np.lib.format.header_data_from_array_1_0(array)
    header["shape"] = claim or array.shape
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + array.tobytes()


def archive(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("x.npy", content)
    return buffer.getvalue()


def test_every_kind_of_array_survives(tmp_path):
    arrays = {
        "scalar": np.float32(3),
        "none": np.zeros([0, 3]),
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "text": np.array(["a", "bcd"]),
        "bool": np.array([True, False]),
    }
    npz.save(tmp_path / "x.npz", arrays)
    for name, array in npz.read(tmp_path / "x.npz").items():
        np.testing.assert_array_equal(array, arrays[name])
        assert array.dtype == arrays[name].dtype


@pytest.mark.parametrize(
    "content, message",
    [
        (archive(npy(np.zeros(3), (10**12,))), "claims 8,000,000,000,"),
        (archive(npy(np.zeros(3), (-3,))), "not allowed"),
        (archive(npy(np.zeros(3), (2,))), "an array of .* claims"),
        (archive(b"no array"), "magic string"),
        (archive(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"), "valid header"),
        (b"no archive", "not a zip"),
    ],
)
def test_a_file_that_lies_is_refused_before_memory_is_taken(content, message):
    with pytest.raises(ValueError, match=message) as error:
        npz.read(io.BytesIO(content))
    assert "\n" not in str(error.value)


def test_an_encrypted_file_is_refused():
    content = bytearray(archive(npy(np.zeros(3))))
    content[6] |= 1  # in the local header, and in the directory
    content[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ValueError, match="encrypted"):
        npz.read(io.BytesIO(content))


def test_a_bomb_is_refused(monkeypatch):
    monkeypatch.setattr(npz, "_ALWAYS_ALLOWED", 2**16)
    bomb = archive(npy(np.zeros(2**17, np.uint8)))
    with pytest.raises(ValueError, match="bytes that claim to be 131,2"):
        npz.read(io.BytesIO(bomb))


def test_pipes_and_devices_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", pathlib.Path("/dev/zero"), tmp_path):
        with pytest.raises(ValueError, match="not a regular file"):
            npz.read(path)


SOUND = archive(npy(np.arange(6.0).reshape(2, 3)))


@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
    st.integers(0, 400),
)
def test_a_damaged_file_gives_the_arrays_or_one_line(changes, cut):
    content = bytearray(SOUND)
    for place, value in changes:
        content[place % len(content)] = value
    content = content[: len(content) - cut % len(content)]
    try:
        arrays = npz.read(io.BytesIO(content))
    except ValueError as error:
        assert str(error) and "\n" not in str(error)
    else:
        for array in arrays.values():  # the checksum saw to it
            assert array.nbytes == 48


@given(st.text(max_size=60))
def test_any_header_is_read_or_refused_in_one_line(text):
    header = text.encode()
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with pytest.raises(ValueError) as error:
        npz.read(io.BytesIO(archive(content)))
    assert str(error.value) and "\n" not in str(error.value)


def test_cached_arrays_are_of_the_expected_shapes_and_finite(tmp_path):
    path, shapes = tmp_path / "file.npz", {"x": (3,), "y": ()}
    npz.save(path, {"x": np.arange(3), "y": 1.5})
    assert npz.load_shaped(path, shapes).keys() == shapes.keys()
    for changed in (
        {"x": np.arange(4), "y": 1.5},
        {"x": np.arange(3)},
        {"x": np.arange(3), "y": 1.5, "z": 0},
        {"x": np.arange(3), "y": np.nan},
        {"x": np.array(list("abc")), "y": 1.5},
    ):
        npz.save(path, changed)
        assert npz.load_shaped(path, shapes) is None
    assert npz.load_shaped(tmp_path / "missing.npz", shapes) is None


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    npz.save_to_cache(tmp_path / "file" / "x.npz", {"x": 1})
    assert "could not cache" in caplog.text

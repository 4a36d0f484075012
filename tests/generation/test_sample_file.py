import fcntl
import os

import numpy as np
import pytest

from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.generation import sample_file


class Stop(Exception):
    """Ends a call as a signal would."""


def write(path, calls, seeds=range(10), stop_after=None, **request):
    """Writes samples; notes the seeds of each batch in `calls`."""

    def draw(some):
        if len(calls) == stop_after:
            raise Stop
        calls.append(some)
        x = np.float32(some).reshape(-1, 1)
        return x, -np.repeat(x, 2, axis=1)

    sample_file.write(
        path,
        draw,
        list(seeds),
        shape=(1,),
        z_shape=(2,),
        request=request,
        batch=4,
    )


def interrupted(path, **settings):
    with pytest.raises(Stop):
        write(path, [], stop_after=2, **settings)
    (part,) = path.parent.glob(".s.npz.*")
    return part


def assert_written(path):
    with np.load(path) as arrays:
        np.testing.assert_array_equal(arrays["x"].ravel(), range(10))
        np.testing.assert_array_equal(arrays["z"][:, 1], -arrays["x"].ravel())
        assert arrays["seeds"].tolist() == list(range(10))
        assert arrays["seeds"].dtype == np.int64
        assert arrays["x"].dtype == np.float32
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_an_interrupted_call_is_resumed(tmp_path):
    interrupted(tmp_path / "s.npz")
    calls = []
    write(tmp_path / "s.npz", calls)
    assert calls == [[8, 9]]
    assert_written(tmp_path / "s.npz")


@pytest.mark.parametrize("kept", [0, 5, 84, 85, 120, 164, 165, 200, 244])
def test_a_part_file_cut_off_anywhere_gives_the_same_samples(tmp_path, kept):
    part = interrupted(tmp_path / "s.npz")
    os.truncate(part, min(kept, part.stat().st_size))
    write(tmp_path / "s.npz", [])
    assert_written(tmp_path / "s.npz")


@pytest.mark.parametrize("position", [0, 30, 90, 130, 180, 230])
def test_a_flipped_byte_is_noticed_and_drawn_again(tmp_path, position):
    part = interrupted(tmp_path / "s.npz")
    content = bytearray(part.read_bytes())
    content[position] ^= 1
    part.write_bytes(content)
    calls = []
    write(tmp_path / "s.npz", calls)
    assert len(calls) > 1
    assert_written(tmp_path / "s.npz")


def test_zeros_after_a_power_failure_are_drawn_again(tmp_path):
    part = interrupted(tmp_path / "s.npz")
    size = part.stat().st_size
    os.truncate(part, size - 20)
    os.truncate(part, size)
    write(tmp_path / "s.npz", [])
    assert_written(tmp_path / "s.npz")


def test_only_own_part_files_of_other_requests_are_deleted(tmp_path):
    (tmp_path / "s.part-0123").mkdir()  # the user's
    (tmp_path / "s.part-0123" / "thesis.tex").write_text("x")
    theirs = tmp_path / f".s.npz.{'0' * 16}.srmcmc-part"
    theirs.write_text("not ours")
    link = tmp_path / f".s.npz.{'1' * 16}.srmcmc-part"
    link.symlink_to(theirs)
    first, second = (interrupted_of(tmp_path / "s.npz", K=K) for K in (3, 4))
    assert not first.exists() and second.exists()
    assert (tmp_path / "s.part-0123" / "thesis.tex").exists()
    assert theirs.read_text() == "not ours" and link.is_symlink()


def interrupted_of(path, **request):
    before = set(path.parent.iterdir())
    with pytest.raises(Stop):
        write(path, [], stop_after=2, **request)
    (part,) = set(path.parent.iterdir()) - before
    return part


def test_a_part_file_in_use_is_neither_shared_nor_deleted(tmp_path):
    part = interrupted(tmp_path / "s.npz")
    with open(part) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="another process is drawing"):
            write(tmp_path / "s.npz", [])
        write(tmp_path / "s.npz", [], K=7)
        assert part.exists()


def test_a_symlink_in_the_place_of_the_part_file_is_not_followed(tmp_path):
    part = interrupted(tmp_path / "s.npz")
    part.unlink()
    (tmp_path / "victim").write_text("mine")
    part.symlink_to(tmp_path / "victim")
    with pytest.raises(UserError, match="is a symbolic link"):
        write(tmp_path / "s.npz", [])
    assert (tmp_path / "victim").read_text() == "mine"


def test_a_full_disk_is_one_line_and_what_was_drawn_is_kept(
    tmp_path, monkeypatch
):
    (tmp_path / "s.npz").write_text("good")
    monkeypatch.setattr(sample_file, "_Part", FullAfterOne)
    with pytest.raises(UserError, match="No space left.*it resumes"):
        write(tmp_path / "s.npz", [])
    assert (tmp_path / "s.npz").read_text() == "good"
    monkeypatch.undo()
    calls = []
    write(tmp_path / "s.npz", calls)
    assert calls == [[4, 5, 6, 7], [8, 9]]
    assert_written(tmp_path / "s.npz")


class FullAfterOne(sample_file._Part):
    """Part of a disk with space for one batch and a half."""

    def append(self, x, z):
        if self.done:
            self._file = Full(self._file)
        super().append(x, z)


class Full:
    def __init__(self, file):
        self.file = file

    def write(self, content):
        self.file.write(content[: len(content) // 2])

    def flush(self):
        self.file.flush()
        raise OSError(28, "No space left on device")

    def close(self):
        self.file.close()


def test_a_sample_that_is_not_finite_is_an_error(tmp_path):
    with pytest.raises(NonFiniteError, match="sample of seed 7 is not finite"):
        sample_file.write(
            tmp_path / "s.npz",
            lambda some: (np.float32([[0.0], [np.nan]]), np.zeros([2, 1])),
            [3, 7],
            shape=(1,),
            z_shape=(1,),
            request={},
        )
    assert not (tmp_path / "s.npz").exists()

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import paths
from srmcmc_tf.runs.run import Run


@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_every_name_is_shown_as_one_printable_line(name):
    text = paths.shown(os.fsdecode(name))
    assert text.isprintable() and text.encode()
    if name.isascii() and name.decode().isprintable():
        assert text == name.decode()


def test_only_regular_files_are_regular(tmp_path):
    (tmp_path / "file").write_bytes(b"123")
    assert paths.regular(tmp_path / "file").st_size == 3
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ValueError, match="not a regular file"):
            paths.regular(path)


def test_the_stamp_changes_even_where_size_and_time_are_kept(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"123")
    stamp, state = paths.stamp(path), path.stat()
    assert paths.stamp(path) == stamp
    while paths.stamp(path) == stamp:  # the clock of the files may be coarse
        path.write_bytes(b"321")
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert path.stat().st_mtime_ns == state.st_mtime_ns


@given(st.text())
def test_only_plain_digits_are_a_number(name):
    found = paths.number(name)
    assert found is None or (name.isascii() and int(name) == found)


def test_numbers_have_no_signs_suffixes_or_other_digits():
    assert paths.number("000012") == 12
    for name in ("", "-1", " 1", "1_0", "12.png", "a/12", "²", "٣", "9" * 5000):
        assert paths.number(name) is None


def test_the_home_of_an_unknown_user_is_left_as_it_is():
    assert str(paths.expanded("~no such user/x")) == "~no such user/x"
    assert paths.expanded("~/x").is_absolute()


def test_a_run_cannot_have_a_name_that_is_not_utf8(tmp_path):
    assert paths.utf8(tmp_path / "é") == tmp_path / "é"
    with pytest.raises(UserError, match=r"\\xffrun: TensorFlow writes only"):
        Run(tmp_path / os.fsdecode(b"\xffrun"))

import json
import os
import stat

import pytest

from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.files import atomic


def test_a_write_replaces_the_content_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    atomic.write_json(path, {"b": 1})
    assert json.loads(path.read_text()) == {"b": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_keeps_the_old_content(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(OSError, match="full") as error:
        with atomic.writer(path) as file:
            file.write(b"half")
            raise OSError(28, "full")
    assert error.value.filename == str(path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_files_written_together_replace_the_old_ones_or_none_does(tmp_path):
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.write_text("old")
    with pytest.raises(OSError, match="full"):
        with atomic.together():
            atomic.write_text(paths[0], "new")
            raise OSError(28, "full")
    assert [path.read_text() for path in paths] == ["old", "old"]
    assert sorted(tmp_path.iterdir()) == paths
    with atomic.together():
        for path in paths:
            atomic.write_text(path, "new")
        assert [path.read_text() for path in paths] == ["old", "old"]
    assert [path.read_text() for path in paths] == ["new", "new"]
    assert sorted(tmp_path.iterdir()) == paths


def test_a_failed_replacement_names_the_file_itself(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError) as error, atomic.together():
        atomic.write_text(tmp_path / "a", "new")
    assert error.value.filename == str(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_symlink_is_replaced_not_followed(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("theirs")
    link.symlink_to(target)
    atomic.write_text(link, "ours")
    assert target.read_text() == "theirs"
    assert not link.is_symlink() and link.read_text() == "ours"


def test_new_files_have_the_permissions_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        atomic.write_bytes(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_directory_appears_complete_or_not_at_all(tmp_path):
    path = tmp_path / "1"
    with pytest.raises(ValueError), atomic.directory(path) as temporary:
        (temporary / "half").write_text("x")
        assert not path.exists()
        raise ValueError
    assert not list(tmp_path.iterdir())
    for text in ("first", "second"):  # the second replaces the first
        with atomic.directory(path) as temporary:
            (temporary / text).write_text(text)
    assert [file.name for file in path.iterdir()] == ["second"]


def test_leftovers_of_a_killed_process_are_removed_and_nothing_else(tmp_path):
    kept = [tmp_path / "a", tmp_path / ".hidden", tmp_path / "b.tmp"]
    for path in kept:
        path.write_text("x")
    with pytest.raises(SystemExit), atomic.directory(tmp_path / "d") as half:
        left = half.with_name(half.name.replace(".d.", ".e."))
        left.mkdir()
        (left / "file").write_text("x")
        raise SystemExit
    assert atomic.leftovers(tmp_path) == [left]
    atomic.remove_leftovers(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_a_value_that_json_lacks_is_not_written(tmp_path):
    path = tmp_path / "a.json"
    atomic.write_json(path, {"mse": 1.0})
    with pytest.raises(NonFiniteError, match="a.json was not written"):
        atomic.write_json(path, {"mse": float("nan")})
    assert json.loads(path.read_text()) == {"mse": 1.0}


def test_the_longest_name_can_be_written(tmp_path):
    path = tmp_path / ("x" * 255)
    atomic.write_text(path, "a")
    assert path.read_text() == "a"


def test_a_file_to_append_to_is_no_symlink(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "a").symlink_to(tmp_path / "victim")
    with pytest.raises(UserError, match="is a symbolic link"):
        open(tmp_path / "a", "a", opener=atomic.open_own)
    with open(tmp_path / "b", "a", opener=atomic.open_own) as file:
        file.write("x")
    assert (tmp_path / "b").read_text() == "x"

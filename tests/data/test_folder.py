"""Folders of images: every file in order, with labels where there are any."""

import os
import pathlib

import numpy as np
import pytest
from helpers import random_images, write_images
from hypothesis import given, settings
from hypothesis import strategies as st

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples, folder
from srmcmc_tf.errors import UserError


def entries(path):
    source = folder.source(path)
    return list(source.read(range(source.size)))


def test_subfolders_are_labels_in_the_order_of_their_names(tmp_path):
    for i, name in enumerate(("dog", "cat", "eel")):
        value = np.full([10, 8, 8, 1], 50 * i, np.uint8)
        write_images(tmp_path / name / "deeper", value)
    config = Config(
        dataset="folder",
        data_dir=str(tmp_path),
        image_size=8,
        channels=1,
        batch_size=8,
    )
    for found in (examples.load(config), examples.load(config)):  # and cached
        assert found.labels.names == ("cat", "dog", "eel")
        values = found.observed[:, 0, 0, 0]
        of = {0: 50, 1: 0, 2: 100}
        assert [of[label] for label in found.labels.observed] == list(values)
        assert len(found.labels.left_out) == 6


def test_a_flat_folder_and_a_single_subfolder_have_no_labels(tmp_path):
    write_images(tmp_path / "one", random_images(3))
    assert folder.source(tmp_path).label_names == ()
    write_images(tmp_path / "two", random_images(3))
    assert folder.source(tmp_path).label_names == ("one", "two")
    write_images(tmp_path, random_images(1))
    assert folder.source(tmp_path).label_names == ()
    assert {entry.label for entry in entries(tmp_path)} == {None}


def test_an_unreadable_subfolder_is_an_error(tmp_path, monkeypatch):
    write_images(tmp_path / "a", random_images(3))
    write_images(tmp_path / "locked", random_images(3))
    scandir = os.scandir

    def refuse(path):  # the tests may be run by root, who may read anything
        if "locked" in str(path):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UserError, match="locked cannot be read .Permission"):
        folder.source(tmp_path)


def test_names_that_are_not_utf8_are_read_and_shown(tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xe9\n"
    write_images(pathlib.Path(os.fsdecode(name)), random_images(10))
    write_images(tmp_path / "b", random_images(10))
    source = folder.source(tmp_path)
    assert source.label_names == ("b", r"caf\xe9\n")
    config = Config(
        dataset="folder",
        data_dir=str(tmp_path),
        image_size=8,
        channels=1,
        batch_size=8,
    )
    assert len(examples.load(config).observed) == 16


def test_links_are_followed_once_and_broken_ones_are_named(tmp_path):
    write_images(tmp_path / "a" / "b", random_images(2))
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")
    write_images(tmp_path / "elsewhere", random_images(3))
    (tmp_path / "a" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "a" / "broken.png").symlink_to(tmp_path / "none")
    os.mkfifo(tmp_path / "a" / "pipe")
    names = [entry.name for entry in entries(tmp_path / "a")]
    assert len(names) == 2 + 3 + 1 + 1
    config = Config(
        dataset="folder", data_dir=str(tmp_path / "a"), batch_size=1
    )
    with pytest.raises(UserError, match="broken.png .No such file"):
        examples.load(config)


def test_a_file_replaced_under_its_size_and_date_is_noticed(tmp_path):
    write_images(tmp_path, random_images(3))
    path = tmp_path / "0001.png"
    first, state = folder.source(tmp_path).identity, path.stat()
    while folder.source(tmp_path).identity == first:  # clocks may be coarse
        path.write_bytes(path.read_bytes()[::-1])
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert path.stat().st_mtime_ns == state.st_mtime_ns


NAMES = st.lists(
    st.binary(min_size=1, max_size=9).filter(
        lambda n: not {0, ord("/")} & set(n) and n[:1] != b"."
    ),
    min_size=1,
    max_size=5,
    unique=True,
)


@settings(max_examples=20)
@given(NAMES)
def test_files_of_any_name_are_listed_in_order(tmp_path_factory, names):
    path = os.fsencode(tmp_path_factory.mktemp("folder"))
    for name in names:
        with open(os.path.join(path, name), "wb") as file:
            file.write(name)
    found = entries(pathlib.Path(os.fsdecode(path)))
    assert sorted(names) == sorted(
        entry.content.read_bytes() for entry in found
    )
    assert all(entry.name.isprintable() for entry in found)
    again = entries(pathlib.Path(os.fsdecode(path)))
    assert found == again

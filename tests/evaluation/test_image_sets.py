"""Image sets: the same uint8 images, wherever they come from."""

import os

import numpy as np
import pytest
from helpers import random_images, write_images
from PIL import Image

from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import image_sets

COLOR = random_images(70, 8, 3)


def rows(array):
    return sorted(map(bytes, array))


@pytest.mark.parametrize("kind", ["folder", "uint8", "floats", "arr_0"])
def test_every_kind_of_set_gives_the_same_images(kind, tmp_path):
    path = tmp_path / "set.npz"
    if kind == "folder":
        path = tmp_path / "set"
        write_images(path, COLOR)
    elif kind == "uint8":
        np.savez(path, x=COLOR, seeds=range(70))
    elif kind == "floats":
        np.savez(path, x=COLOR / np.float32(127.5) - 1)
    else:
        np.savez_compressed(path, COLOR)
    found = image_sets.from_path(path, "real")
    assert (found.name, found.n, found.shape) == ("set", 70, (8, 8, 3))
    read = np.concatenate([found.read(0, 64), found.read(64, 70)])
    assert rows(read) == rows(COLOR)
    np.testing.assert_array_equal(found.read(64, 70), found.read(64, 70))


def test_a_sorted_set_is_read_in_mixed_order(tmp_path):
    sorted_ones = np.arange(200, dtype=np.uint8).reshape(-1, 1, 1, 1)
    np.savez(tmp_path / "x.npz", sorted_ones)
    first = image_sets.from_path(tmp_path / "x.npz", "real").read(0, 50)
    assert abs(first.mean() - sorted_ones.mean()) < 20


def test_gray_files_stay_gray(tmp_path):
    write_images(tmp_path, random_images(3))
    found = image_sets.from_path(tmp_path, "fake")
    assert found.shape == (8, 8, 1)


def test_samples_are_clipped_and_rounded_once():
    class Model:
        weights = []

        def sample(self, seeds):
            return np.float32(seeds).reshape(-1, 1, 1, 1) / 10 - 2

    found = image_sets.from_model(Model(), 100, (1, 1, 1))
    x = np.concatenate([found.read(0, 64), found.read(64, 100)]).ravel()
    assert len(x) == 100 and x.dtype == np.uint8
    assert (x[:11] == 0).all() and (x[30:] == 255).all()
    assert x[20] == 128 and (np.diff(x[10:31].astype(int)) > 0).all()


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros([4, 8, 8], np.uint8), r"\(4, 8, 8\), not \[n, h, w"),
        (np.zeros([4, 8, 8, 3], np.int64), "neither uint8 nor floats"),
        (np.full([4, 8, 8, 3], 200.0), "floats up to 200"),
        (np.full([4, 8, 8, 3], np.nan), "NaN among images"),
    ],
)
def test_other_arrays_are_refused(array, message, tmp_path):
    np.savez(tmp_path / "x.npz", x=array)
    with pytest.raises(UserError, match=message):
        image_sets.from_path(tmp_path / "x.npz", "fake")


def test_other_files_and_sizes_are_refused(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        image_sets.from_path(tmp_path / "nothing", "real")
    (tmp_path / "x.npz").write_text("no npz")
    with pytest.raises(UserError, match="is not an npz of images"):
        image_sets.from_path(tmp_path / "x.npz", "real")
    folder = tmp_path / "folder"
    write_images(folder, random_images(3, 8, 3))
    write_images(folder / "more", random_images(1, 16, 3))
    with pytest.raises(UserError, match="16x16x3, but the first .* 8x8x3"):
        image_sets.from_path(folder, "real").read(0, 4)
    (folder / "more" / "0000.png").write_text("no image")
    with pytest.raises(UserError, match="0000.png is not a readable image"):
        image_sets.from_path(folder, "real").read(0, 4)


def test_files_are_seen_as_in_a_viewer(tmp_path):
    ramp = np.arange(64, dtype=np.uint16).reshape(8, 8) * 1028
    Image.fromarray(ramp).save(tmp_path / "a.png")
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    turned = np.ascontiguousarray(np.rot90(ramp // 257, 2).astype(np.uint8))
    Image.fromarray(turned).save(tmp_path / "b.png", exif=exif)
    found = image_sets.from_path(tmp_path, "real").read(0, 2)
    for image in found:
        np.testing.assert_array_equal(image[..., 0], ramp // 257)
    Image.fromarray(np.float32(ramp)).save(tmp_path / "c.tif")
    with pytest.raises(UserError, match="c.tif .*floating-point pixels"):
        image_sets.from_path(tmp_path, "real").read(0, 3)


def test_what_never_ends_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(UserError, match="not a regular file"):
            image_sets.from_path(path, "real")

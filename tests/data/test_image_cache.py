"""The cache of images: what is not exactly right is read again."""

import numpy as np
import pytest
from helpers import random_images, write_images
from hypothesis import given
from hypothesis import strategies as st

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples, image_cache
from srmcmc_tf.files import npz

IMAGES = random_images(20)
LABELS = np.arange(20, dtype=np.int32)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "x.npz"
    image_cache.save(path, "key", image_cache.Prepared(IMAGES, LABELS))
    return path


def load(path, key="key", n=20, shape=(8, 8, 1)):
    return image_cache.load(path, key, n, shape)


def test_what_was_saved_is_loaded(saved, tmp_path):
    found = load(saved)
    np.testing.assert_array_equal(found.images, IMAGES)
    np.testing.assert_array_equal(found.labels, LABELS)
    path = tmp_path / "new" / "x.npz"
    image_cache.save(path, "key", image_cache.Prepared(IMAGES, None))
    assert load(path).labels is None


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_no_changed_byte_changes_an_image(saved, tmp_path_factory, place, flip):
    content = bytearray(saved.read_bytes())
    content[place % len(content)] ^= flip
    path = tmp_path_factory.mktemp("changed") / "x.npz"
    path.write_bytes(content)
    found = load(path)
    if found is not None:  # a byte that means nothing, such as a date
        np.testing.assert_array_equal(found.images, IMAGES)


@pytest.mark.parametrize(
    "changes",
    [
        {"images": IMAGES[:, :4]},
        {"images": IMAGES[:9]},
        {"images": IMAGES.astype(np.int64)},
        {"images": IMAGES[0]},
        {"labels": LABELS[:9]},
        {"labels": LABELS.astype(float)},
        {"key": b"another"},
    ],
)
def test_wrong_shapes_types_and_keys_are_refused(changes, tmp_path, caplog):
    path = tmp_path / "x.npz"
    arrays = {"key": b"key", "images": IMAGES, "labels": LABELS}
    npz.save(path, arrays)
    assert load(path) is not None
    npz.save(path, {**arrays, **changes})
    assert load(path) is None and "read again" in caplog.text


def test_a_flipped_byte_in_the_cache_is_noticed(tmp_path, cache):
    write_images(tmp_path, IMAGES)
    config = Config(
        dataset="folder",
        data_dir=str(tmp_path),
        image_size=8,
        channels=1,
        batch_size=8,
    )
    first = examples.load(config)
    (file,) = (cache / "srmcmc_tf").iterdir()
    content = bytearray(file.read_bytes())
    place = content.index(bytes(first.observed[3]))
    content[place + 5] ^= 1
    file.write_bytes(content)
    np.testing.assert_array_equal(
        examples.load(config).observed, first.observed
    )
    assert file.read_bytes() != content  # it was written again

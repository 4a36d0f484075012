"""References: computed once, resumed, and named after what they are of."""

import numpy as np
import pytest
from helpers import random_images

from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import feed, image_sets, reference
from srmcmc_tf.files import npz


def assert_equal(a, b):
    for one, other in zip(a.moments, b.moments, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(a.features, b.features)


def test_a_reference_is_computed_once_under_a_telling_name(counting, cache):
    images = image_sets.from_array(random_images(200), "some set", "observed")
    first = reference.from_images(images, counting.network())
    assert_equal(first, reference.from_images(images, counting.network()))
    assert counting.images == 200
    (path,) = cache.glob("srmcmc_tf/reference/some_set-*")
    assert path.name == (
        "some_set-observed-n200-square8x8x1-uint8-tiny-0-"
        f"{images.identity[:8]}.npz"
    )
    path.write_bytes(path.read_bytes()[:1000])  # damaged: computed anew
    assert_equal(first, reference.from_images(images, counting.network()))
    assert counting.images == 400
    npz.save(path, {"n": 200, "mu": np.zeros(2)})  # sound, but another one
    assert_equal(first, reference.from_images(images, counting.network()))
    assert counting.images == 600


def test_an_interrupted_reference_is_resumed(counting, cache, monkeypatch):
    monkeypatch.setattr(feed, "SAVE_SECONDS", 0)
    array = random_images(300, seed=3)
    images = image_sets.from_array(array, "part", "observed")
    counting.interrupt_after = 128
    with pytest.raises(KeyboardInterrupt):
        reference.from_images(images, counting.network())
    assert list(cache.glob("srmcmc_tf/reference/part-*.part"))
    counting.interrupt_after = None
    resumed = reference.from_images(images, counting.network())
    assert counting.images == 300
    assert not list(cache.glob("srmcmc_tf/reference/part-*.part"))
    whole = image_sets.from_array(array, "whole", "observed")
    assert_equal(resumed, reference.from_images(whole, counting.network()))


def test_statistics_are_read_from_an_npz(counting, tmp_path):
    path = tmp_path / "known.npz"
    np.savez(path, mu=np.zeros(3), sigma=np.eye(3))
    found = reference.from_statistics(path, "real", counting.network())
    assert (found.name, found.moments.n, found.features) == ("known", 0, None)
    other = found._replace(moments=found.moments._replace(mean=np.ones(3)))
    assert found.identity != other.identity


def test_images_are_no_statistics(counting, tmp_path):
    np.savez(tmp_path / "images.npz", x=random_images(2))
    for path in (tmp_path, tmp_path / "images.npz"):
        network = counting.network()
        assert reference.from_statistics(path, "real", network) is None


@pytest.mark.parametrize(
    "mean, message",
    [(np.zeros(9), r"shape \(9,\), but tiny has 3"), ([np.nan] * 3, "finite")],
)
def test_unusable_statistics_are_refused(mean, message, counting, tmp_path):
    path = tmp_path / "known.npz"
    np.savez(path, mu=mean, sigma=np.eye(len(mean)))
    with pytest.raises(UserError, match=message):
        reference.from_statistics(path, "real", counting.network())

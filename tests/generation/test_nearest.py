"""The nearest training images of samples."""

import numpy as np
import pytest
from helpers import random_images

from srmcmc_tf.errors import UserError
from srmcmc_tf.generation import nearest

IMAGES = random_images(30)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(nearest, "_BLOCK", 7)


def test_neighbors_are_those_of_all_pairs():
    x = random_images(5, seed=1)
    distances, images = nearest.neighbors(x, IMAGES, k=3)
    difference = (x[:, None].astype(float) - IMAGES) / 127.5
    whole = np.sqrt((difference**2).mean(axis=(2, 3, 4)))
    np.testing.assert_allclose(distances, np.sort(whole, axis=1)[:, :3])
    order = np.argsort(whole, axis=1)[:, :3]
    np.testing.assert_array_equal(images, IMAGES[order])


def test_a_memorized_image_is_at_distance_zero():
    distances, images = nearest.neighbors(IMAGES[[4]], IMAGES)
    assert distances[0, 0] < 1e-6 < distances[0, 1]
    np.testing.assert_array_equal(images[0, 0], IMAGES[4])


def test_a_mirror_image_is_found_only_where_they_belong_to_the_set():
    mirrored = IMAGES[[4], :, ::-1]
    assert nearest.neighbors(mirrored, IMAGES)[0][0, 0] > 0.1
    distances, images = nearest.neighbors(mirrored, IMAGES, flip=True)
    assert distances[0, 0] < 1e-6
    np.testing.assert_array_equal(images[0, 0], mirrored[0])


def test_a_set_may_have_fewer_images_than_neighbors():
    distances, images = nearest.neighbors(IMAGES[:2], IMAGES[:3], k=5)
    assert distances.shape == (2, 3) and images.shape[:2] == (2, 3)


def test_a_model_file_has_no_training_images(tmp_path):
    with pytest.raises(UserError, match="does not know its training images"):
        nearest.nearest("model.keras", IMAGES, tmp_path)

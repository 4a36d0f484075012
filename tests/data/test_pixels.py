import numpy as np
from helpers import random_images

from srmcmc_tf.data import pixels


def test_central_square_is_taken_and_shrunk_without_aliasing():
    wide = np.zeros([16, 48, 3], np.uint8)
    wide[:, 16:32] = np.indices([16, 16]).sum(axis=0)[..., None] % 2 * 200
    square = pixels.square(wide, (8, 8, 3))
    assert square.shape == (8, 8, 3)
    np.testing.assert_allclose(square, 100, atol=15)  # the mean, not 0 or 200


def test_gray_and_color_are_converted_to_each_other():
    colour = random_images(1, 8, 3)[0]
    assert pixels.square(colour, (8, 8, 1)).shape == (8, 8, 1)
    grey = pixels.square(random_images(1)[0], (8, 8, 3))
    np.testing.assert_array_equal(grey[..., 0], grey[..., 2])

import numpy as np
import pytest
from helpers import random_images

from srmcmc_tf.data import pixels
from srmcmc_tf.errors import NonFiniteError


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


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_has_no_color(bad):
    with pytest.raises(NonFiniteError, match="images are not finite"):
        pixels.to_uint8(np.float32([0.0, bad]))

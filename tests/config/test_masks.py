import numpy as np
import pytest

from srmcmc_tf.config import masks


def test_a_mask_survives_its_text():
    mask = np.random.default_rng(0).integers(0, 2, [8, 8]).astype(bool)
    again = masks.known_pixels(masks.encode(mask), 8)
    np.testing.assert_array_equal(again[..., 0], mask)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ("middle", "must be center, left or a picture"),
        (masks.encode(np.eye(16)), "the mask is 16x16, the images are 8x8"),
        (masks.encode(np.ones([8, 8])), "all white or all black"),
    ],
)
def test_what_is_no_mask_of_this_size_is_refused(mask, message):
    with pytest.raises(ValueError, match=message):
        masks.known_pixels(mask, 8)

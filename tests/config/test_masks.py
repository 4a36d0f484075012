import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        ("8x8:0f0", "not one bit per pixel"),
        ("8x8:" + "0f" * 9, "not one bit per pixel"),
        ("9" * 5000 + "x8:ff", "the images are 8x8"),
    ],
)
def test_what_is_no_mask_of_this_size_is_refused(mask, message):
    with pytest.raises(ValueError, match=message):
        masks.known_pixels(mask, 8)


@given(
    st.text()
    | st.from_regex(r"[0-9]{1,3}x[0-9]{1,3}:[0-9a-f]{0,20}", fullmatch=True)
)
def test_any_text_is_a_mask_or_a_value_error(text):
    try:
        known = masks.known_pixels(text, 8)
    except ValueError:
        return
    assert text in masks.MASKS or masks.encode(known[..., 0]) == text

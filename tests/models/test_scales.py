import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.models import scales


def images(size, n=2, channels=3, seed=0):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(n, size, size, channels)).astype(np.float32)


def test_shrink_takes_means_and_enlarge_repeats():
    x = images(8)
    small = scales.shrink(x, (4, 4, 3)).numpy()
    means = x.reshape(2, 4, 2, 4, 2, 3).mean(axis=(2, 4))
    np.testing.assert_allclose(small, means, atol=1e-6)
    large = scales.enlarge(tf.constant(small), (8, 8, 3)).numpy()
    np.testing.assert_array_equal(large[:, ::2, 1::2], small)
    np.testing.assert_allclose(scales.shrink(large, (4, 4, 3)), small)


def test_split_undoes_join():
    starts = [tf.constant(images(size, seed=size)) for size in (4, 8)]
    z = scales.join(starts)
    assert z.shape == (2, 3 * (16 + 64))
    again = scales.split(z, [(4, 4, 3), (8, 8, 3)])
    for one, other in zip(starts, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_z_of_one_stage_is_its_start():
    x = tf.constant(images(8))
    assert scales.join([x]) is x
    assert scales.split(x, [(8, 8, 3)])[0] is x


@pytest.mark.parametrize(
    "shapes, message",
    [
        ([], "at least one stage"),
        ([(8, 8, 3), (8, 8, 3)], "from coarse to fine"),
        ([(16, 16, 3), (8, 8, 3)], "from coarse to fine"),
        ([(8, 8, 3), (12, 12, 3)], "a multiple"),
        ([(8, 8, 1), (16, 16, 3)], "same channels"),
        ([(2,), (4,)], "need images"),
    ],
)
def test_stages_that_are_no_pyramid_are_refused(shapes, message):
    with pytest.raises(ValueError, match=message):
        scales.check(shapes)

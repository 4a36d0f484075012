import numpy as np

from srmcmc_tf.data import digits


def test_the_digits_use_the_whole_range_and_have_all_labels():
    images, labels = digits.load()
    assert images.shape == (1797, 8, 8) and images.dtype == np.uint8
    assert (images.min(), images.max(), len(np.unique(images))) == (0, 255, 17)
    assert set(labels) == set(range(10))

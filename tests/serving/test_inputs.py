import numpy as np
import pytest
import tensorflow as tf
from helpers import random_images

from srmcmc_tf.data import pixels
from srmcmc_tf.serving.inputs import Inputs, Limits, finite

LIMITS = Limits(batch=3, K=10, iterations=20)


@pytest.fixture(scope="module")
def inputs():
    return Inputs((8, 8, 1), LIMITS)


def graph(check, spec):
    """A check as a graph, as in a signature."""
    return tf.function(check, input_signature=[spec])


def test_pixels_and_files_become_the_floats_of_the_data(inputs):
    images = random_images(3)
    expected = pixels.to_float(images)
    files = tf.stack([tf.io.encode_png(image) for image in images])
    of_pixels = graph(inputs.images_uint8, inputs.specs["images_uint8"])
    of_files = graph(inputs.png_bytes, inputs.specs["png_bytes"])
    np.testing.assert_array_equal(of_pixels(images), expected)
    np.testing.assert_array_equal(of_files(files), expected)


@pytest.mark.parametrize(
    "n, good", [(0, False), (1, True), (3, True), (4, False)]
)
def test_a_batch_has_a_number_of_rows(inputs, n, good):
    seeds = tf.zeros([n], tf.int64)
    if good:
        assert inputs.batch("seeds", seeds).shape == [n]
        return
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 to 3"):
        inputs.batch("seeds", seeds)


@pytest.mark.parametrize(
    "value, good", [(-1, False), (0, True), (10, True), (11, False)]
)
def test_a_count_has_a_range(inputs, value, good):
    if good:
        assert inputs.count("K", tf.constant(value), LIMITS.K) == value
        return
    with pytest.raises(tf.errors.InvalidArgumentError, match="K must be betw"):
        inputs.count("K", tf.constant(value), LIMITS.K)


def test_values_that_are_not_finite_blame_an_input():
    with pytest.raises(tf.errors.InvalidArgumentError, match="K leads to"):
        finite("K", tf.constant([1.0, np.nan]))

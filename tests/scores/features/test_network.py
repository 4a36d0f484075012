"""A network is called with arrays of any number of images."""

import numpy as np
import tensorflow as tf
from helpers import random_images

from srmcmc_tf.scores.features.network import Network, Outputs


def test_arrays_become_tensors_of_their_own_type():
    def function(images):
        assert tf.is_tensor(images) and images.dtype == tf.uint8
        return Outputs(
            tf.reduce_mean(tf.cast(images, tf.float32), [1, 2]), None
        )

    network = Network("mean", "nowhere", "0", 3, 0, {}, function)
    images = random_images(5, 8, 3)
    np.testing.assert_allclose(
        network(images).features, images.mean(axis=(1, 2)), rtol=1e-5
    )
    assert network(images).logits is None

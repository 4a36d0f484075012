"""What the tests of evaluation share: a small network."""

import pytest
import tensorflow as tf

from srmcmc_tf.scores.features.network import Network, Outputs

NAMES = {"fid": "distance", "kid": "kernel_distance", "is": "score"}


class CountingNetwork:
    """A small network that counts its images, and may be interrupted."""

    def __init__(self):
        self.images = 0
        self.interrupt_after = None

    def network(self):
        return Network("tiny", "nowhere", "0", 3, 3, NAMES, self._outputs)

    def _outputs(self, images):
        if self.interrupt_after is not None:
            if self.images >= self.interrupt_after:
                raise KeyboardInterrupt
        self.images += len(images)
        x = tf.cast(images, tf.float32)
        features = tf.stack(
            [x[:, 0, 0, 0], x[:, 1, 2, 0], tf.reduce_mean(x, [1, 2, 3])], 1
        )
        return Outputs(features, features)


@pytest.fixture
def counting():
    return CountingNetwork()


@pytest.fixture(autouse=True)
def trained_once(classifiers):
    """Lets all tests of evaluations use the same classifiers."""

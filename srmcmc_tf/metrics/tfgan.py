"""tensorflow-gan's metrics."""

import types

from srmcmc_tf.compat import tensorflow as compat


def load() -> types.ModuleType:
    """The module `tensorflow_gan.python.eval.classifier_metrics`."""
    return compat.tensorflow_gan_metrics()

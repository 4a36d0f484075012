"""Sample quality metrics: FID, KID and inception score, as Keras metrics.

    network = inception.load(PATH)
    fid = FID(network.features, reference_moments)
    fid.update_state(network(images).features)
    fid.result()

A `Network` turns uint8 images into features and logits; the metrics turn those
into numbers. Nothing here reads data: see `srmcmc_tf.evaluation` for that.
"""

from srmcmc_tf.metrics.fid import FID
from srmcmc_tf.metrics.inception_score import InceptionScore
from srmcmc_tf.metrics.kid import KID

__all__ = ["FID", "KID", "InceptionScore"]

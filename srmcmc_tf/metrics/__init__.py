"""How good samples are: FID, KID and IS, streamed over uint8 images.

    network = inception.load(PATH)
    fid = FID(network.features, reference.moments)
    fid.update_state(network(images).features)
    fid.result()

A `Network` turns uint8 images into features and logits, the metrics sum over
them, `reference` keeps the statistics of the real ones.
"""

from srmcmc_tf.metrics.fid import FID
from srmcmc_tf.metrics.inception_score import InceptionScore
from srmcmc_tf.metrics.kid import KID

__all__ = ["FID", "KID", "InceptionScore"]

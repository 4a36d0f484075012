"""Sample quality: FID, KID and inception score, of images and in your own loop.

`fid`, `kid` and `inception_score` measure images from anywhere in one call. The
classes `FID`, `KID` and `InceptionScore` are Keras metrics of features, to
update batch by batch; `inception` loads the network that computes features.
"""

from srmcmc_tf.evaluation.compare import fid, inception_score, kid
from srmcmc_tf.scores.features.inception import load as inception
from srmcmc_tf.scores.fid import FID
from srmcmc_tf.scores.inception_score import InceptionScore
from srmcmc_tf.scores.kid import KID

__all__ = [
    "FID",
    "KID",
    "InceptionScore",
    "fid",
    "inception",
    "inception_score",
    "kid",
]

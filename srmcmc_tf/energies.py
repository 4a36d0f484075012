"""Networks f(x), the negative energy: higher f is more likely."""

from srmcmc_tf.models.conditional import conditional
from srmcmc_tf.models.energies import convnet, mlp, pooled
from srmcmc_tf.models.frame import deep_frame, filter_bank, frame

__all__ = [
    "conditional",
    "convnet",
    "deep_frame",
    "filter_bank",
    "frame",
    "mlp",
    "pooled",
]

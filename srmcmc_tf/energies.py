"""Networks f(x), the negative energy: higher f is more likely."""

from srmcmc_tf.models.energies import convnet, mlp, pooled

__all__ = ["convnet", "mlp", "pooled"]

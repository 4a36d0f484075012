"""The variational autoencoder of the paper's comparison."""

import math
from collections.abc import Container, Sequence
from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.distribution import replicas
from srmcmc_tf.models import inputs
from srmcmc_tf.models.baselines import networks
from srmcmc_tf.models.baselines.latent import LatentModel, descend
from srmcmc_tf.models.generator import Rate
from srmcmc_tf.sampling import rng
from srmcmc_tf.sampling.inversion import Reconstruction

# The variance that rounding to uint8 leaves in images of [-1, 1]: what fits
# better than this fits the rounding.
_ROUNDING = (2 / 255) ** 2 / 12


@keras.saving.register_keras_serializable("srmcmc_tf")
class VAE(LatentModel):
    """An autoencoder whose code is Gaussian (Kingma and Welling, 2013).

    The encoder gives mean and log sigma of z, the generator (its decoder) the
    mean of x; prior and posterior of z and the likelihood of x are Gaussians
    with independent coordinates. The likelihood has one variance for all
    pixels, in each update the one that fits best, the mean squared error of
    the batch: so the bound needs no weight between its two terms.

    Encoder and generator have the layers and feature maps of the energy of
    the same `n_f`. At 32x32x3 and n_f=64, where that has 2,763,393 weights:

    Args:
        image_size, channels, n_f, latent, seed, precision: see `LatentModel`.

    Examples:

    >>> VAE(32, 3, n_f=64).count_params()
    7968203
    """

    quantities = ("loss", "mse", "kl", "gradient_norm")

    def __init__(
        self, image_size: int, channels: int = 3, **kwargs: Any
    ) -> None:
        super().__init__(image_size, channels, **kwargs)
        shared: dict[str, Any] = dict(n_f=self.n_f, dtype=self.precision)
        self.encoder = networks.encoder(
            image_size, channels, 2 * self.latent, seed=2 * self.seed, **shared
        )
        self.generator = networks.generator(
            image_size, channels, self.latent, seed=2 * self.seed + 1, **shared
        )

    @staticmethod
    def adam(learning_rate: Rate = 1e-3) -> keras.optimizers.Adam:
        return LatentModel.adam(learning_rate)

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer | None = None,
        **kwargs: Any,
    ) -> None:
        super().compile(optimizer, **kwargs)
        self.optimizer.build(self.trainable_variables)

    def checkpoint_items(self) -> dict[str, Any]:
        networks = {"encoder": self.encoder, "generator": self.generator}
        return networks | super().checkpoint_items()

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        """One update along the bound's gradient; its quantities by name."""
        x, rows = replicas.own_rows(inputs.batch(data, self.image_shape))
        with tf.GradientTape() as tape:
            logs = self._bound(x, rng.TRAIN, self.counter)
        variables = self.trainable_variables
        norm = descend(tape, logs["loss"], variables, self.optimizer)
        return self.trackers.update({**logs, "gradient_norm": norm}, rows)

    def test_step(self, data: Any) -> dict[str, tf.Tensor]:
        """The quantities of an update on other data, without the update."""
        x, rows = replicas.own_rows(inputs.batch(data, self.image_shape))
        return self.trackers.update(self._bound(x, rng.TEST, 0), rows)

    def encode(self, x: tf.Tensor) -> list[tf.Tensor]:
        """Mean and log sigma of z, [n, latent] each, for images."""
        return tf.split(self.encoder(x), 2, axis=1)

    def reconstruct(
        self,
        x: tf.Tensor,
        *,
        seeds: Sequence[int] | None = None,
        keep: Container[int] = (),
    ) -> Reconstruction:
        """The VAE's own reconstructions: encoded to the mean, and decoded.

        Args:
            x: images in [-1, 1], [n, h, w, c].
            seeds: as for the other models; not used, because nothing is drawn.
            keep: if it contains 0, the result is also kept as a frame.

        Returns:
            A `Reconstruction` with z [n, latent] and no iterations.
        """
        x = tf.convert_to_tensor(x, tf.float32)
        z, _ = self.encode(x)
        ends = self(z)
        mse = tf.reduce_mean(tf.square(x - ends), axis=[1, 2, 3])
        frames = ends[None] if 0 in keep else ends[None][:0]
        return Reconstruction(ends, z, mse[None], frames)

    def _bound(self, x: tf.Tensor, *draw: Any) -> dict[str, tf.Tensor]:
        """The negative bound, in nats per pixel, and its terms."""
        mean, log_sigma = self.encode(x)
        sigma = tf.exp(log_sigma)
        z = mean + sigma * self._normal(tf.shape(x)[0], *draw)
        mse = tf.reduce_mean(tf.square(x - self.generator(z)))
        # No tensor is used three times: TensorFlow would add its gradients
        # in an order that depends on timing.
        square = tf.square(sigma) + tf.square(mean)
        kl = tf.reduce_sum(0.5 * (square - 1.0) - log_sigma, axis=1)
        kl = tf.reduce_mean(kl)
        misfit = 0.5 * tf.math.log(2 * math.pi * math.e * (mse + _ROUNDING))
        pixels = math.prod(self.image_shape)
        return {"loss": misfit + kl / pixels, "mse": mse, "kl": kl}

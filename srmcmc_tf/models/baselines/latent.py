"""The base class of the baselines: a generator x = g(z) of z ~ N(0, I)."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.models.generator import Generator, between
from srmcmc_tf.sampling import rng


class LatentModel(Generator):
    """Images from a latent z, with the methods of a `ShortRunEBM`.

    A subclass has a network `generator`, an `adam` and its training.

    Args:
        image_size: height and width, a power of two from 8 up.
        channels: number of channels of the images.
        n_f: feature maps at full size, as of `energy.convnet`.
        latent: length of z.
        seed: integer, the random seed of initial weights and all noise in
            training.
        precision: a Keras dtype policy of the networks.
        **kwargs: of `keras.Model`, such as `name`.
    """

    def __init__(
        self,
        image_size: int,
        channels: int = 3,
        *,
        n_f: int = 64,
        latent: int = 100,
        seed: int = 0,
        precision: str = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(seed=seed, **kwargs)
        self.image_size = image_size
        self.channels = channels
        self.n_f = n_f
        self.latent = latent
        self.precision = precision
        self.built = True

    @property
    def image_shape(self) -> tuple[int, ...]:
        return self.image_size, self.image_size, self.channels

    def call(self, z: tf.Tensor) -> tf.Tensor:
        """g(z), in [-1, 1]: z [n, latent] to [n, h, w, c]."""
        return self.generator(z, training=False)

    def start(self, seeds: Sequence[int]) -> tf.Tensor:
        """The latents z of `seeds`, standard normal [n, latent]."""
        stream = rng.stream_per_row(seeds).fold(rng.START)
        return stream.normal([len(stream.seeds), self.latent])

    def sample(self, seeds: Sequence[int]) -> tf.Tensor:
        """One image per seed, which names its z.

        Args:
            seeds: integers, shape [n].

        Returns:
            float32 [n, h, w, c] in [-1, 1].
        """
        return self(self.start(seeds))

    def interpolate(
        self, z1: tf.Tensor, z2: tf.Tensor, rho: Sequence[float]
    ) -> tf.Tensor:
        """The images of latents between two, rho z1 + sqrt(1 - rho^2) z2.

        Args:
            z1: latents [n, latent], as of `start`.
            z2: others of the same shape.
            rho: weights of `z1` in [0, 1], shape [r].

        Returns:
            float32 [n, r, h, w, c] in [-1, 1].
        """
        z = between(z1, z2, rho)
        x = self(tf.reshape(z, [-1, self.latent]))
        return tf.reshape(x, [*z.shape[:2], *self.image_shape])

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer | None = None,
        **kwargs: Any,
    ) -> None:
        """Sets the optimizer, by default the model's own Adam."""
        kwargs["jit_compile"] = False  # slower on a CPU, with other rounding
        super().compile(optimizer or self.adam(), **kwargs)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "image_size": self.image_size,
            "channels": self.channels,
            "n_f": self.n_f,
            "latent": self.latent,
            "seed": self.seed,
            "precision": self.precision,
        }

    def _normal(self, n: tf.Tensor, *draw: Any) -> tf.Tensor:
        """Standard normals [n, latent] of `draw`, on this replica."""
        context = tf.distribute.get_replica_context()
        replica = context.replica_id_in_sync_group
        stream = rng.stream(self.seed).fold(*draw, replica)
        return stream.normal([n, self.latent])


def descend(
    tape: tf.GradientTape,
    loss: tf.Tensor,
    variables: list[Any],
    optimizer: keras.optimizers.Optimizer,
) -> tf.Tensor:
    """Moves variables down a loss; returns the norm of its gradient."""
    # The optimizer sums over replicas; a loss is a mean.
    share = 1.0 / tf.distribute.get_strategy().num_replicas_in_sync
    gradient = tape.gradient(loss, variables, tf.constant(share))
    optimizer.apply(gradient, variables)
    return tf.linalg.global_norm(gradient)

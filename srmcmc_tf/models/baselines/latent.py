"""What the baselines share: a generator x = g(z) of z ~ N(0, I)."""

import keras
import tensorflow as tf

from srmcmc_tf.models.generator import Generator, between
from srmcmc_tf.sampling import rng


class LatentModel(Generator):
    """Images from a latent z, used as a `ShortRunEBM` is.

    A subclass has a network `generator`, an `adam` and its training.

    Args:
        image_size: height and width, a power of two from 8 up.
        channels: number of channels of the images.
        n_f: feature maps at full size, as of `energy.convnet`.
        latent: length of z.
        seed: integer that names initial weights and all noise of the training.
        precision: a Keras dtype policy of the networks.
        **kwargs: of `keras.Model`, such as `name`.
    """

    def __init__(
        self,
        image_size,
        channels=3,
        *,
        n_f=64,
        latent=100,
        seed=0,
        precision="float32",
        **kwargs,
    ):
        super().__init__(seed=seed, **kwargs)
        self.image_size = image_size
        self.channels = channels
        self.n_f = n_f
        self.latent = latent
        self.precision = precision
        self.built = True

    @property
    def image_shape(self):
        return self.image_size, self.image_size, self.channels

    def call(self, z):
        """g(z), in [-1, 1]: z [n, latent] to [n, h, w, c]."""
        return self.generator(z, training=False)

    def start(self, seeds):
        """The latents z that `seeds` name, standard normal [n, latent]."""
        seeds = rng.fold(rng.seeds_of(seeds), rng.START)
        return rng.normal([len(seeds), self.latent], seeds)

    def sample(self, seeds):
        """One image a seed, which names its z.

        Args:
            seeds: integers, shape [n].

        Returns:
            float32 [n, h, w, c] in [-1, 1].
        """
        return self(self.start(seeds))

    def interpolate(self, z1, z2, rho):
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

    def compile(self, optimizer=None, **kwargs):
        """Sets the optimizer, by default the model's own Adam."""
        kwargs["jit_compile"] = False  # slower on a CPU, and other numbers
        super().compile(optimizer or self.adam(), **kwargs)

    def get_config(self):
        return {
            **super().get_config(),
            "image_size": self.image_size,
            "channels": self.channels,
            "n_f": self.n_f,
            "latent": self.latent,
            "seed": self.seed,
            "precision": self.precision,
        }

    def get_compile_config(self):
        optimizer = keras.saving.serialize_keras_object(self.optimizer)
        return {"optimizer": optimizer}

    def _normal(self, n, *draw):
        """Standard normals [n, latent] that `draw` names, on this replica."""
        context = tf.distribute.get_replica_context()
        replica = context.replica_id_in_sync_group
        seed = rng.fold(rng.seed_of(self.seed), *draw, replica)
        return rng.normal([n, self.latent], seed)


def descend(tape, loss, variables, optimizer):
    """Moves variables down a loss; returns the norm of its gradient."""
    # The optimizer sums over replicas; a loss is a mean.
    share = 1.0 / tf.distribute.get_strategy().num_replicas_in_sync
    gradient = tape.gradient(loss, variables, tf.constant(share))
    optimizer.apply(gradient, variables)
    return tf.linalg.global_norm(gradient)

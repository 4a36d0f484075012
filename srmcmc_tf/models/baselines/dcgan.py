"""The adversarial network of the paper's comparison."""

import math

import keras
import tensorflow as tf
from tqdm import tqdm

from srmcmc_tf.models.baselines import networks
from srmcmc_tf.models.baselines.latent import LatentModel, descend
from srmcmc_tf.models.generator import unpack_images
from srmcmc_tf.sampling import chain, rng
from srmcmc_tf.sampling.inversion import Reconstruction


@keras.saving.register_keras_serializable("srmcmc_tf")
class DCGAN(LatentModel):
    """A generator against a discriminator (Radford et al., 2015).

    Convolutions throughout, strided instead of pooled; ReLU in the generator
    and LeakyReLU in the discriminator; batch normalisation but at the image;
    weights start from N(0, 0.02^2); Adam with beta_1 = 0.5. One update moves
    both networks once, by the losses of the same batch; the generator's is
    the one that does not saturate.

    Both have the layers and feature maps of the energy of the same `n_f`. At
    32x32x3 and n_f=64, where that has 2,763,393 weights, those that are
    learned are:

    Args:
        image_size, channels, n_f, latent, seed, precision: see `LatentModel`.

    Examples:

    >>> model = DCGAN(32, 3, n_f=64)
    >>> sum(w.shape.num_elements() for w in model.trainable_variables)
    6339652
    """

    def __init__(self, image_size, channels=3, **kwargs):
        super().__init__(image_size, channels, **kwargs)
        shared = dict(n_f=self.n_f, batch_norm=True, dtype=self.precision)
        self.generator = networks.generator(
            image_size, channels, self.latent, seed=2 * self.seed, **shared
        )
        self.discriminator = networks.encoder(
            image_size,
            channels,
            1,
            seed=2 * self.seed + 1,
            name="discriminator",
            **shared,
        )

    @staticmethod
    def adam(learning_rate=2e-4):
        return keras.optimizers.Adam(learning_rate, 0.5, 0.999, epsilon=1e-8)

    def compile(self, optimizer=None, **kwargs):
        """Sets the optimizers.

        Args:
            optimizer: the generator's, which counts the updates; the
                discriminator has another of the same settings.
            **kwargs: as in `keras.Model.compile`.
        """
        super().compile(optimizer, **kwargs)
        self.discriminator_optimizer = keras.optimizers.get(
            keras.optimizers.serialize(self.optimizer)
        )
        self.optimizer.build(self.generator.trainable_variables)
        self.discriminator_optimizer.build(
            self.discriminator.trainable_variables
        )

    def checkpoint_items(self):
        return {
            "generator": self.generator,
            "discriminator": self.discriminator,
            "discriminator_optimizer": self.discriminator_optimizer,
            **super().checkpoint_items(),
        }

    def train_step(self, data):
        """One update of both networks; returns its quantities by name."""
        x = unpack_images(data)
        draw = rng.TRAIN, self.optimizer.iterations
        with tf.GradientTape(persistent=True) as tape:
            logs = self._compare(x, *draw, training=True)
        for name, network, optimizer in (
            ("g", self.generator, self.optimizer),
            ("d", self.discriminator, self.discriminator_optimizer),
        ):
            loss, variables = logs[f"{name}_loss"], network.trainable_variables
            norm = descend(tape, loss, variables, optimizer)
            logs[f"{name}_gradient_norm"] = norm
        return logs

    def test_step(self, data):
        """The quantities of an update on other data, without the update."""
        return self._compare(unpack_images(data), rng.TEST, 0, training=False)

    def reconstruct(
        self,
        x,
        *,
        seeds=None,
        iterations=200,
        step=None,
        sigma=0.1,
        observe=tf.identity,
        keep=(),
    ):
        """Infers latents whose images are the given ones.

        Langevin dynamics from the prior towards the posterior of z, for
        observe(x) = observe(g(z)) + sigma * N(0, I), as in alternating
        back-propagation (Han et al., 2017), which the paper refers to.

        Args:
            x: images in [-1, 1], [n, h, w, c].
            seeds: integers [n] that name the first z and the chain's noise;
                by default 0 to n - 1.
            iterations: steps of the chain.
            step: s of z + s^2 / 2 * d log p(z | x) / dz + s * N(0, I); by
                default sigma * sqrt(20 / pixels), because the curvature of
                the misfit grows with their number; of 6, 20, 60 and 120 it was
                20 that fitted best, both on digits and on faces.
            sigma: of the likelihood.
            observe: images to what is known of them.
            keep: iterations at which g(z) is kept as a frame.

        Returns:
            A `reconstruct.Reconstruction` with z [n, latent].
        """
        x = tf.convert_to_tensor(x, tf.float32)
        target = observe(x)
        if step is None:
            step = sigma * math.sqrt(20 / math.prod(target.shape[1:]))
        seeds = range(len(x)) if seeds is None else seeds
        noise_seeds = rng.fold(rng.seeds_of(seeds), rng.CHAIN)
        axes = list(range(1, target.shape.rank))

        def log_posterior(z):
            misfit = tf.square(target - observe(self(z)))
            misfit = tf.reduce_sum(misfit, axes) / sigma**2
            return -0.5 * (misfit + tf.reduce_sum(tf.square(z), 1))

        @tf.function
        def move(z, i):
            return chain.langevin(
                log_posterior,
                z,
                noise_seeds,
                K=1,
                step_size=step**2 / 2,
                noise=step,
                first=i,
            ).x

        @tf.function
        def look(z):
            ends = self(z)
            error = tf.square(target - observe(ends))
            return ends, tf.reduce_mean(error, axes)

        z, mse, frames = self.start(seeds), [], []
        bar = tqdm(
            range(iterations + 1), unit=" iterations", delay=2, leave=False
        )
        for i in bar:
            if i:
                z = move(z, tf.constant(i - 1))
            ends, errors = look(z)
            mse.append(errors)
            if i in keep:
                frames.append(ends)
        frames = tf.stack(frames) if frames else ends[None][:0]
        return Reconstruction(ends, z, tf.stack(mse), frames)

    def _compare(self, x, *draw, training):
        """Both losses, and how probable data and samples are to be data."""
        z = self._normal(tf.shape(x)[0], *draw)
        samples = self.generator(z, training=training)
        # Two batches: normalised together, each would tell of the other.
        data = self.discriminator(x, training=training)
        samples = self.discriminator(samples, training=training)
        on_data = tf.reduce_mean(tf.nn.softplus(-data))
        on_samples = tf.reduce_mean(tf.nn.softplus(samples))
        return {
            "g_loss": tf.reduce_mean(tf.nn.softplus(-samples)),
            "d_loss": on_data + on_samples,
            "p_data": tf.reduce_mean(tf.sigmoid(data)),
            "p_samples": tf.reduce_mean(tf.sigmoid(samples)),
        }

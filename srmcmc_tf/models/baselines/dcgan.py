"""The adversarial network of the paper's comparison."""

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
from srmcmc_tf.sampling import chain, inversion, rng


@keras.saving.register_keras_serializable("srmcmc_tf")
class DCGAN(LatentModel):
    """A generator against a discriminator (Radford et al., 2015).

    Convolutions throughout, strided instead of pooled; ReLU in the generator
    and LeakyReLU in the discriminator; batch normalisation except at the image;
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

    quantities = (
        "g_loss",
        "d_loss",
        "p_data",
        "p_samples",
        "g_gradient_norm",
        "d_gradient_norm",
    )

    def __init__(
        self, image_size: int, channels: int = 3, **kwargs: Any
    ) -> None:
        super().__init__(image_size, channels, **kwargs)
        shared: dict[str, Any] = dict(
            n_f=self.n_f, batch_norm=True, dtype=self.precision
        )
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
    def adam(learning_rate: Rate = 2e-4) -> keras.optimizers.Adam:
        return keras.optimizers.Adam(learning_rate, 0.5, 0.999, epsilon=1e-8)

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer | None = None,
        **kwargs: Any,
    ) -> None:
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

    def checkpoint_items(self) -> dict[str, Any]:
        return {
            "generator": self.generator,
            "discriminator": self.discriminator,
            "discriminator_optimizer": self.discriminator_optimizer,
            **super().checkpoint_items(),
        }

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        """One update of both networks; returns its quantities by name."""
        x, rows = replicas.own_rows(inputs.batch(data, self.image_shape))
        draw = rng.TRAIN, self.counter
        with tf.GradientTape(persistent=True) as tape:
            logs = self._compare(x, *draw, training=True)
        for name, network, optimizer in (
            ("g", self.generator, self.optimizer),
            ("d", self.discriminator, self.discriminator_optimizer),
        ):
            loss, variables = logs[f"{name}_loss"], network.trainable_variables
            norm = descend(tape, loss, variables, optimizer)
            logs[f"{name}_gradient_norm"] = norm
        return self.trackers.update(logs, rows)

    def test_step(self, data: Any) -> dict[str, tf.Tensor]:
        """The quantities of an update on other data, without the update."""
        x, rows = replicas.own_rows(inputs.batch(data, self.image_shape))
        logs = self._compare(x, rng.TEST, 0, training=False)
        return self.trackers.update(logs, rows)

    def reconstruct(
        self,
        x: tf.Tensor,
        *,
        seeds: Sequence[int] | None = None,
        iterations: int = 200,
        step: float | None = None,
        sigma: float = 0.1,
        observe: inversion.Observe = tf.identity,
        keep: Container[int] = (),
    ) -> inversion.Reconstruction:
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
                the misfit grows with their number; of 6, 20, 60 and 120, 20
                fitted best, both on digits and on faces.
            sigma: of the likelihood.
            observe: images to what is known of them.
            keep: iterations at which g(z) is kept as a frame.

        Returns:
            A `Reconstruction` with z [n, latent].
        """
        x = tf.convert_to_tensor(x, tf.float32)
        target = observe(x)
        if step is None:
            step = sigma * math.sqrt(20 / math.prod(target.shape[1:]))
        seeds = range(len(x)) if seeds is None else seeds
        stream = rng.stream_per_row(seeds).fold(rng.CHAIN)
        axes = list(range(1, target.shape.rank))

        def log_posterior(z: tf.Tensor) -> tf.Tensor:
            misfit = tf.square(target - observe(self(z)))
            misfit = tf.reduce_sum(misfit, axes) / sigma**2
            return -0.5 * (misfit + tf.reduce_sum(tf.square(z), 1))

        @tf.function
        def move(z: tf.Tensor, i: tf.Tensor) -> tf.Tensor:
            return chain.langevin(
                log_posterior,
                z,
                stream,
                K=1,
                step_size=step**2 / 2,
                noise=step,
                first=i,
            ).x

        @tf.function
        def look(z: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            ends = self(z)
            error = tf.square(target - observe(ends))
            return ends, tf.reduce_mean(error, axes)

        z = self.start(seeds)

        def evaluate(i: int) -> tuple[tf.Tensor, tf.Tensor]:
            nonlocal z
            if i:
                z = move(z, tf.constant(i - 1))
            return look(z)

        ends, mse, frames = inversion.iterate(evaluate, iterations, keep)
        return inversion.Reconstruction(ends, z, mse, frames)

    def _compare(
        self, x: tf.Tensor, *draw: Any, training: bool
    ) -> dict[str, tf.Tensor]:
        """Both losses, and the probabilities of data and samples to be data."""
        z = self._normal(tf.shape(x)[0], *draw)
        samples = self.generator(z, training=training)
        # Two batches: normalised together, each would depend on the other.
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

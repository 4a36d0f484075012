"""The short-run MCMC model: an energy network and the chain run on it."""

import functools
from collections.abc import Callable, Container, Sequence
from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.distribution import replicas
from srmcmc_tf.models.generator import Generator, between, unpack_images
from srmcmc_tf.sampling import chain, inversion, rng


@keras.saving.register_keras_serializable("srmcmc_tf")
class ShortRunEBM(Generator):
    """Learns an energy whose K-step Langevin chain is the generator.

    Every update starts fresh chains from uniform noise, runs exactly K steps
    and moves the weights along `mean f(data) - mean f(samples)`: Algorithm 1
    of Nijkamp et al., "Learning Non-Convergent Non-Persistent Short-Run MCMC
    Toward Energy-Based Model", NeurIPS 2019.

    The data given to `fit` are images in [-1, 1], to which Gaussian noise was
    added (`srmcmc_tf.data.batches` does both).

    Args:
        energy: `keras.Model`, images [n, h, w, c] to f [n, 1] or [n]; built.
        K: steps of a chain.
        step_size: factor of the gradient f' in a step.
        noise: factor of the Gaussian noise in a step.
        seed: integer, the random seed of all noise in training.
        **kwargs: of `keras.Model`, such as `name`.

    Examples:

    >>> energy = srmcmc_tf.energies.convnet(8, channels=1, n_f=4)
    >>> model = ShortRunEBM(energy, K=5)
    >>> model.sample(seeds=[0, 1, 2]).shape
    TensorShape([3, 8, 8, 1])
    """

    def __init__(
        self,
        energy: keras.Model,
        *,
        K: int = 100,
        step_size: float = 1.0,
        noise: float = 0.01,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed=seed, **kwargs)
        self.energy = energy
        self.K, self.step_size, self.noise = K, step_size, noise
        self.built = True
        self._compile_chain("auto")

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """f(x), the negative energy: [n, h, w, c] to [n, 1]."""
        return self.energy(x)

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer | None = None,
        *,
        jit_compile: bool | str = "auto",
        **kwargs: Any,
    ) -> None:
        """Sets the optimizer and whether XLA compiles the chain.

        Args:
            optimizer: a Keras optimizer; by default the paper's Adam.
            jit_compile: whether XLA compiles the chain (never the rest of the
                update); "auto" is True if there is a GPU: on a CPU, XLA's
                convolution gradients are three times slower.
            **kwargs: as in `keras.Model.compile`; the loss is the model's own.
        """
        for name in ("loss", "loss_weights", "metrics", "weighted_metrics"):
            if kwargs.get(name) is not None:
                raise ValueError(f"ShortRunEBM has its own loss: no `{name}`")
        self._compile_chain(jit_compile)
        super().compile(optimizer or self.adam(), jit_compile=False, **kwargs)
        self.optimizer.build(self.trainable_variables)
        if self.distribute_strategy.num_replicas_in_sync > 1:
            compat.expect_summed_gradients(self.optimizer)

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        """One update of Algorithm 1; returns its quantities by name."""
        x = unpack_images(data)
        ran = self._fresh_chain(x, rng.TRAIN, self.optimizer.iterations)
        with tf.GradientTape() as tape:
            logs = self._compare(x, ran, training=True)
            # The gradient is summed over replicas; the paper takes the mean.
            n = tf.distribute.get_strategy().num_replicas_in_sync
            loss = self.optimizer.scale_loss(logs["loss"] / n)
        variables = self.trainable_variables
        gradient = replicas.total(tape.gradient(loss, variables))
        self.optimizer.apply(gradient, variables)
        logs["gradient_norm"] = tf.linalg.global_norm(gradient)
        return replicas.logs(logs)

    def test_step(self, data: Any) -> dict[str, tf.Tensor]:
        """The quantities of an update on other data, without the update."""
        x = unpack_images(data)
        ran = self._fresh_chain(x, rng.TEST, 0)
        logs = self._compare(x, ran, training=False)
        return replicas.logs(logs)

    def start(self, seeds: Sequence[int]) -> tf.Tensor:
        """The starts z of the chains of `seeds`, uniform in [-1, 1)."""
        stream = rng.stream_per_row(seeds).fold(rng.START)
        return stream.uniform([stream.seeds.shape[0], *self.image_shape])

    def sample(
        self,
        seeds: Sequence[int],
        *,
        K: int | None = None,
        noise: float | None = None,
    ) -> tf.Tensor:
        """Runs a chain per seed to float32 [n, h, w, c], not clipped.

        Args:
            seeds: integers [n]; each names a start and all noise of its chain.
            K: steps, by default those of the training.
            noise: factor of the noise, by default that of the training.
        """
        K = self.K if K is None else K
        return self.trace(seeds, [K], noise=noise)[:, 0]

    def trace(
        self,
        seeds: Sequence[int],
        steps: Sequence[int],
        *,
        noise: float | None = None,
    ) -> tf.Tensor:
        """The chains of `sample` at some steps, float32 [n, s, h, w, c].

        Args:
            seeds: integers, shape [n].
            steps: increasing numbers of steps, [s]; 0 is the start.
            noise: see `sample`.
        """
        noise = self.noise if noise is None else noise
        stream = rng.stream_per_row(seeds).fold(rng.CHAIN)
        x, done, seen = self.start(seeds), 0, []
        for step in steps:
            settings = chain.settings(step - done, noise, done)
            x = self._shared_chain((x, stream), *settings)
            done = step
            seen.append(x)
        return tf.stack(seen, axis=1)

    def interpolate(
        self,
        z1: tf.Tensor,
        z2: tf.Tensor,
        rho: Sequence[float],
        *,
        K: int | None = None,
    ) -> tf.Tensor:
        """The deterministic ends [n, r, h, w, c] of starts between two.

        Args:
            z1, z2: starts [n, h, w, c], as of `start`.
            rho: weights of `z1` in [0, 1], shape [r]; see `between`.
            K: steps, by default those of the training.
        """
        z = between(z1, z2, rho)
        K = tf.cast(self.K if K is None else K, tf.int32)
        starts = tf.reshape(z, [-1, *z.shape[2:]])
        return tf.reshape(self._shared_ascent(starts, K), tf.shape(z))

    def reconstruct(
        self,
        x: tf.Tensor,
        *,
        seeds: Sequence[int] | None = None,
        iterations: int = 200,
        rule: str = "descent",
        step: float | None = None,
        observe: inversion.Observe = tf.identity,
        K: int | None = None,
        keep: Container[int] = (),
    ) -> inversion.Reconstruction:
        """Infers starts z whose deterministic chains end at given images.

        Descent on ||observe(x) - observe(M(z))||^2 over z, through all steps.

        Args:
            x: images in [-1, 1], [n, h, w, c].
            seeds: integers [n] that name the first z; by default 0 to n - 1.
            iterations: steps of the descent.
            rule: "descent", the paper's, or "adam".
            step: factor of the gradient; by default one that was measured.
            observe: images to what is known of them, such as a part.
            K: steps of the chain, by default those of the training.
            keep: iterations at which M(z) is kept as a frame.
        """
        x = tf.convert_to_tensor(x, tf.float32)
        z = self.start(range(len(x)) if seeds is None else seeds)
        return inversion.infer(
            self.energy,
            x,
            z,
            K=self.K if K is None else K,
            step_size=self.step_size,
            observe=observe,
            iterations=iterations,
            rule=rule,
            step=step,
            keep=keep,
            share=self._share,
        )

    @property
    def image_shape(self) -> tuple[int, ...]:
        return self.energy.input_shape[1:]

    def checkpoint_items(self) -> dict[str, Any]:
        return {"energy": self.energy, **super().checkpoint_items()}

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "energy": keras.saving.serialize_keras_object(self.energy),
            "K": self.K,
            "step_size": self.step_size,
            "noise": self.noise,
            "seed": self.seed,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "ShortRunEBM":
        energy = keras.saving.deserialize_keras_object(config["energy"])
        return cls(**{**config, "energy": energy})

    def get_compile_config(self) -> dict[str, Any]:
        return {**super().get_compile_config(), "jit_compile": self._jit_chain}

    def run_chain(
        self,
        x: tf.Tensor,
        stream: rng.AnyStream,
        *,
        K: Any = None,
        noise: Any = None,
    ) -> chain.Chain:
        """`chain.langevin`, compiled; the settings are those of `sample`."""
        K = self.K if K is None else K
        noise = self.noise if noise is None else noise
        return self._compiled.langevin(x, stream, *chain.settings(K, noise))

    def _compile_chain(self, jit_compile: bool | str) -> None:
        self._jit_chain = jit_compile
        if jit_compile == "auto":
            jit_compile = bool(tf.config.list_physical_devices("GPU"))
        # Layers such as Dropout are active in the weight update alone.
        self._compiled = compiled = chain.compiled(
            functools.partial(self.energy, training=False),
            step_size=self.step_size,
            jit_compile=bool(jit_compile),
        )
        self._shared_chain = self._share(
            lambda rows, *settings: compiled.langevin(*rows, *settings).x
        )
        self._shared_ascent = self._share(compiled.ascend)

    def _share(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, with its rows divided among the devices."""
        return replicas.share_rows(self.distribute_strategy, function)

    def _fresh_chain(self, x: tf.Tensor, *draw: Any) -> chain.Chain:
        """A chain for each row of `x`, started from the noise of `draw`."""
        whole = rng.stream(self.seed).fold(*draw, 0)
        stream = replicas.own_rows(whole, tf.shape(x)[0])
        z = stream.fold(rng.START).uniform(tf.shape(x))
        return self.run_chain(z, stream.fold(rng.CHAIN))

    def _compare(
        self, x: tf.Tensor, ran: chain.Chain, *, training: bool
    ) -> dict[str, tf.Tensor]:
        """f on data and on samples, as one batch, and the chain's numbers."""
        f = self.energy(tf.concat([x, ran.x], axis=0), training=training)
        f_data, f_samples = tf.split(f, 2)
        f_data, f_samples = tf.reduce_mean(f_data), tf.reduce_mean(f_samples)
        outside = tf.cast(tf.abs(ran.x) > 1.0, tf.float32)
        return {
            # The energy's own losses are those of its regularizers and layers.
            "loss": sum(self.energy.losses, f_samples - f_data),
            "f_data": f_data,
            "f_samples": f_samples,
            "f_difference": f_data - f_samples,
            "f_prime_norm": ran.f_prime_norm,
            "out_of_range": tf.reduce_mean(outside),
        }

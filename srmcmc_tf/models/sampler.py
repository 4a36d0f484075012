"""What a short-run model does with its chains: images from seeds, and back."""

from collections.abc import Callable, Container, Sequence
from typing import Any

import tensorflow as tf

from srmcmc_tf.distribution import replicas
from srmcmc_tf.models.generator import Generator, between
from srmcmc_tf.models.stage import Stage
from srmcmc_tf.sampling import chain, inversion, rng


class Sampler(Generator):
    """A generator whose images are the ends of the chains of its stages.

    Args:
        stages: the scales, coarse to fine; the paper's model has one.
        seed: integer, the random seed of all noise in training.
        **kwargs: of `keras.Model`, such as `name`.
    """

    def __init__(
        self, stages: Sequence[Stage], *, seed: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(seed=seed, **kwargs)
        if len(stages) != 1:
            raise ValueError(f"one stage is needed, not {len(stages)}")
        self.energy = stages[-1].energy
        self.stages = tuple(stages)
        self.compile_chains("auto")

    @property
    def image_shape(self) -> tuple[int, ...]:
        return self.stages[-1].image_shape

    @property
    def K(self) -> int:
        """Steps of a chain."""
        return self.stages[-1].K

    @property
    def step_size(self) -> float:
        """Factor of f' in a step."""
        return self.stages[-1].step_size

    @property
    def noise(self) -> float:
        """Factor of the Gaussian noise in a step."""
        return self.stages[-1].noise

    def start(self, seeds: Sequence[int]) -> tf.Tensor:
        """The starts z of the chains of `seeds`, uniform in [-1, 1)."""
        stream = rng.stream_per_row(seeds)
        return self.stages[0].start(stream, stream.seeds.shape[0])

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
        (stage,) = self.stages
        stream = rng.stream_per_row(seeds).fold(rng.CHAIN)
        x, done, seen = self.start(seeds), 0, []
        for step in steps:
            settings = stage.settings(step - done, noise, done)
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

    def run_chain(
        self,
        z: tf.Tensor,
        stream: rng.AnyStream,
        *,
        K: Any = None,
        noise: Any = None,
    ) -> chain.Chain:
        """`chain.langevin`, compiled; the settings are those of `sample`."""
        (stage,) = self.stages
        return stage.compiled.langevin(z, stream, *stage.settings(K, noise))

    def fresh_chain(self, n: Any, *draw: Any) -> chain.Chain:
        """`n` chains of an update, with the noise that `draw` names."""
        whole = rng.stream(self.seed).fold(*draw, 0)
        stream = replicas.own_rows(whole, n)
        z = self.stages[0].start(stream, n)
        return self.run_chain(z, stream.fold(rng.CHAIN))

    def compile_chains(self, jit_compile: bool | str) -> None:
        """Compiles the chains, by XLA if `jit_compile` ("auto": on a GPU)."""
        self._jit_chain = jit_compile
        if jit_compile == "auto":
            jit_compile = bool(tf.config.list_physical_devices("GPU"))
        (stage,) = self.stages
        stage.compile(jit_compile=bool(jit_compile))
        self._shared_chain = self._share(
            lambda rows, *settings: stage.compiled.langevin(*rows, *settings).x
        )
        self._shared_ascent = self._share(stage.compiled.ascend)

    def _share(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, with its rows divided among the devices."""
        return replicas.share_rows(self.distribute_strategy, function)

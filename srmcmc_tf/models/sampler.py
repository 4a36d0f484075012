"""What a short-run model does with its chains: images from seeds, and back."""

import functools
import math
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import tensorflow as tf

from srmcmc_tf.distribution import replicas
from srmcmc_tf.models import inputs, scales
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
        scales.check([stage.image_shape for stage in stages])
        # As attributes of their own: Keras does not look into stages.
        self.energy = stages[-1].energy
        self.coarser = [stage.energy for stage in stages[:-1]]
        self.stages = tuple(stages)
        self.compile_chains("auto")

    @property
    def image_shape(self) -> tuple[int, ...]:
        return self.stages[-1].image_shape

    @property
    def K(self) -> int:
        """Steps of a chain, of all stages together."""
        return sum(stage.K for stage in self.stages)

    @property
    def step_size(self) -> float:
        """Factor of f' in a step of the last stage."""
        return self.stages[-1].step_size

    @property
    def noise(self) -> float:
        """Factor of the Gaussian noise in the first step of the last stage."""
        return self.stages[-1].noise

    def start(self, seeds: Sequence[int]) -> tf.Tensor:
        """The starts z of the chains of `seeds`, uniform in [-1, 1).

        Returns:
            float32 [n, h, w, c]; with several stages [n, d], the starts of
            all of them one after another, coarse to fine.
        """
        stream = rng.stream_per_row(seeds)
        n = stream.seeds.shape[0]
        return scales.join(
            [stage.start(own, n) for stage, own in self.with_streams(stream)]
        )

    def trace(
        self,
        seeds: Sequence[int],
        steps: Sequence[int],
        *,
        start: Any = None,
        step_size: float | None = None,
        noise: float | None = None,
    ) -> tf.Tensor:
        """The chains of `sample` at some steps, float32 [n, s, h, w, c].

        Coarse stages are shown enlarged.

        Args:
            seeds: integers, shape [n].
            steps: increasing numbers of steps, [s]; 0 is the start.
            start, step_size, noise: see `sample`.
        """
        stream = rng.stream_per_row(seeds)
        starts = self._split(self.start(seeds) if start is None else start)
        chains = self._chains(step_size)
        frames: list[Any] = [None] * len(steps)
        x = None
        for i, (stage, own) in enumerate(self.with_streams(stream)):
            own, done = own.fold(rng.CHAIN), 0
            x = stage.begin(starts[i], x, self._within(i, steps[-1]) > 0)
            for j, step in enumerate(steps):
                until = self._within(i, step)
                settings = stage.settings(until - done, noise, done)
                x = chains[i]((x, own), *settings)
                done = until
                frames[j] = self._later(i, until, x, frames[j])
        return tf.stack(frames, axis=1)

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
            z1, z2: starts, as of `start`.
            rho: weights of `z1` in [0, 1], shape [r]; see `between`.
            K: steps, by default those of the training.
        """
        shape = self.image_shape
        if len(self.stages) > 1:
            shape = (
                sum(math.prod(stage.image_shape) for stage in self.stages),
            )
        z1, z2 = (inputs.images(z, shape, "starts") for z in (z1, z2))
        z = between(z1, z2, rho)
        K = tf.cast(self.K if K is None else K, tf.int32)
        ends = self._shared_ascent(tf.reshape(z, [-1, *z.shape[2:]]), K)
        shape = tf.concat([tf.shape(z)[:2], self.image_shape], axis=0)
        return tf.reshape(ends, shape)

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
        x = inputs.images(x, self.image_shape)
        inputs.check_range(x)
        z = self.start(range(len(x)) if seeds is None else seeds)
        return inversion.infer(
            functools.partial(self.with_pullback, K=self.K if K is None else K),
            x,
            z,
            metric=self.metric(),
            observe=observe,
            iterations=iterations,
            rule=rule,
            step=step,
            keep=keep,
            share=self._share,
        )

    def with_pullback(
        self, z: tf.Tensor, K: Any
    ) -> tuple[tf.Tensor, inversion.Pullback]:
        """The ends of chains without noise, and how a gradient comes back.

        See `inversion.with_pullback`; this is the same for all stages.
        """
        x, backs, factors = None, [], []
        for i, (stage, start) in enumerate(
            zip(self.stages, self._split(z), strict=True)
        ):
            steps = self._within(i, K)
            x = stage.begin(start, x, steps > 0)
            x, back = inversion.with_pullback(
                stage.energy, x, K=steps, step_size=stage.step_size
            )
            backs.append(back)
            factors.append(tf.where(steps > 0, stage.start_noise, 0.0))

        def pullback(gradient: tf.Tensor) -> tf.Tensor:
            found: list[tf.Tensor] = []
            for i in range(len(backs) - 1, 0, -1):
                gradient = backs[i](gradient)
                found.insert(0, factors[i] * gradient)
                shape = self.stages[i - 1].image_shape
                gradient = scales.add_up(gradient, shape)
            return scales.join([backs[0](gradient), *found])

        return x, pullback

    def metric(self) -> tf.Tensor:
        """Factors of a gradient by z, with which all scales move as far.

        A pixel of a coarse stage is many of an image, and the z of a following
        stage counts less: without them a descent diverges at the coarse end
        and does not move at the fine one. 1 for a single stage.
        """
        factors = []
        for i, stage in enumerate(self.stages):
            pixels = self.image_shape[0] // stage.image_shape[0]
            weight = stage.start_noise if i else 1.0
            factor = 1.0 / (pixels * weight) ** 2 if weight else 0.0
            factors.append(tf.fill([1, *stage.image_shape], factor))
        return scales.join(factors) if len(factors) > 1 else tf.constant(1.0)

    def fresh_chains(self, stream: rng.AnyStream, n: Any) -> list[chain.Chain]:
        """Runs `n` chains with noise of a stream; the ends of each stage."""
        ran: list[chain.Chain] = []
        for stage, own in self.with_streams(stream):
            before = ran[-1].x if ran else None
            x = stage.begin(stage.start(own, n), before)
            ran.append(stage.run(x, own))
        return ran

    def set_sigmas(self, sigmas: Sequence[Any]) -> None:
        """Changes the sigma of each stage from the next update on."""
        for stage, sigma in zip(self.stages, sigmas, strict=True):
            stage.change("sigma", sigma)
        self.set_seed(self.seed)  # sigma is part of the same graphs

    def compile_chains(self, jit_compile: bool | str) -> None:
        """Compiles the chains, by XLA if `jit_compile` ("auto": on a GPU)."""
        self._jit_chain = jit_compile
        if jit_compile == "auto":
            jit_compile = bool(tf.config.list_physical_devices("GPU"))
        self._shared_chains: list[Callable[..., tf.Tensor]] = []
        self._stepped: dict[float, list[Callable[..., tf.Tensor]]] = {}
        for stage in self.stages:
            stage.compile(jit_compile=bool(jit_compile))
            self._shared_chains.append(self._share(stage.ends))
        self._shared_ascent = self._share(self._ascend)

    def _ascend(self, z: tf.Tensor, K: tf.Tensor) -> tf.Tensor:
        """The ends of the chains without noise after K steps."""
        x = None
        for i, (stage, start) in enumerate(
            zip(self.stages, self._split(z), strict=True)
        ):
            steps = self._within(i, K)
            x = stage.begin(start, x, steps > 0)
            x = stage.compiled.ascend(x, steps)
        return x

    def _chains(
        self, step_size: float | None
    ) -> list[Callable[..., tf.Tensor]]:
        """The chains of all stages, compiled once for each step size."""
        if step_size is None:
            return self._shared_chains
        if step_size not in self._stepped:
            self._stepped[step_size] = [
                self._share(stage.stepped(step_size)) for stage in self.stages
            ]
        return self._stepped[step_size]

    def _share(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, with its rows divided among the devices."""
        return replicas.share_rows(self.distribute_strategy, function)

    def _split(self, z: tf.Tensor) -> list[tf.Tensor]:
        return scales.split(z, [stage.image_shape for stage in self.stages])

    def with_streams(
        self, stream: rng.AnyStream
    ) -> Iterator[tuple[Stage, rng.AnyStream]]:
        """Each stage with its own stream; the first one's is `stream`."""
        for i, stage in enumerate(self.stages):
            yield stage, stream.fold(rng.STAGE, i) if i else stream

    def _within(self, i: int, K: Any) -> tf.Tensor:
        """How many of the first K steps of a chain are those of stage i.

        The last stage has all that follow, more than in training if need be.
        """
        K -= sum(stage.K for stage in self.stages[:i])
        most = tf.int32.max if i + 1 == len(self.stages) else self.stages[i].K
        return tf.clip_by_value(tf.cast(K, tf.int32), 0, most)

    def _later(
        self, i: int, steps: tf.Tensor, x: tf.Tensor, frame: tf.Tensor | None
    ) -> tf.Tensor:
        """The frame of the stages up to i: of i, if it made steps of it."""
        if frame is None:
            return x
        enlarged = scales.enlarge(frame, self.stages[i].image_shape)
        return tf.where(steps > 0, x, enlarged)

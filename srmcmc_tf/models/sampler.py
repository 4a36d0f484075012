"""What a short-run model does with its chains: images from seeds."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from srmcmc_tf.distribution import replicas
from srmcmc_tf.models import labels as label_checks
from srmcmc_tf.models import scales
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.models.stage import Stage
from srmcmc_tf.models.starting import Starting
from srmcmc_tf.sampling import chain, rng
from srmcmc_tf.sampling.starts import Start


class Sampler(Generator):
    """A generator whose images are the ends of the chains of its stages.

    Args:
        stages: the scales, coarse to fine; the paper's model has one.
        start: where chains start.
        seed: integer, the random seed of all noise in training.
        **kwargs: of `keras.Model`, such as `name`.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        start: Start | str = "noise",
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed=seed, **kwargs)
        scales.check([stage.image_shape for stage in stages])
        if len({stage.n_classes for stage in stages}) > 1:
            raise ValueError("all stages need energies of the same n_classes")
        # As attributes of their own: Keras does not look into stages.
        self.energy = stages[-1].energy
        self.coarser = [stage.energy for stage in stages[:-1]]
        self.stages = tuple(stages)
        start = Start(kind=start) if isinstance(start, str) else start
        self.starting = Starting(start, self.stages, seed)
        self.compile_chains("auto")

    @property
    def image_shape(self) -> tuple[int, ...]:
        return self.stages[-1].image_shape

    @property
    def n_classes(self) -> int:
        """Number of classes of a conditional model; 0 if it is none."""
        return self.stages[-1].n_classes

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

    @property
    def needs_images(self) -> bool:
        """Whether `start`, `sample` and `trace` need images to start from."""
        return self.starting.start.needs_images

    def start(self, seeds: Sequence[int], *, images: Any = None) -> tf.Tensor:
        """The starts z of the chains of `seeds`, uniform in [-1, 1).

        Args:
            seeds: integers [n].
            images: [n, h, w, c] in [-1, 1], for a model that `needs_images`:
                one to start from for each seed.

        Returns:
            float32 [n, h, w, c]; with several stages [n, d], the starts of
            all of them one after another, coarse to fine.
        """
        stream = rng.stream_per_row(seeds)
        streams: list[Any] = [own for _, own in self.with_streams(stream)]
        return scales.join(self.starting.of_seeds(streams, images))

    def trace(
        self,
        seeds: Sequence[int],
        steps: Sequence[int],
        *,
        start: Any = None,
        step_size: float | None = None,
        noise: float | None = None,
        images: Any = None,
        labels: Any = None,
    ) -> tf.Tensor:
        """The chains of `sample` at some steps, float32 [n, s, h, w, c].

        Coarse stages are shown enlarged.

        Args:
            seeds: integers, shape [n].
            steps: increasing numbers of steps, [s]; 0 is the start.
            start, step_size, noise, images, labels: see `sample`.
        """
        stream = rng.stream_per_row(seeds)
        y = self.labels_of(seeds, labels)
        if start is None:
            start = self.start(seeds, images=images)
        starts = self._split(start)
        chains = self._chains(step_size)
        frames: list[Any] = [None] * len(steps)
        x = None
        for i, (stage, own) in enumerate(self.with_streams(stream)):
            own, done = own.fold(rng.CHAIN), 0
            x = stage.begin(starts[i], x, self._within(i, steps[-1]) > 0)
            for j, step in enumerate(steps):
                until = self._within(i, step)
                settings = stage.settings(until - done, noise, done)
                x = chains[i]((x, own, *y), *settings)
                done = until
                frames[j] = scales.later(x, frames[j], until)
        return tf.stack(frames, axis=1)

    def labels_of(self, seeds: Any, labels: Any) -> list[tf.Tensor]:
        """The labels of the chains of seeds; see `labels.of_seeds`."""
        return label_checks.of_seeds(seeds, labels, self.n_classes)

    def fresh_chains(
        self,
        x: tf.Tensor,
        y: Sequence[tf.Tensor],
        rows: replicas.Rows,
        stream: rng.AnyStream,
        update: Any,
    ) -> list[chain.Chain]:
        """Runs a chain for each row of `x`; the ends of each stage.

        Args:
            x: data of the finest stage, [n, ...].
            y: their labels, if the model is conditional: a list of one tensor.
            rows: which rows of the global batch they are.
            stream: of these rows.
            update: number of the update.
        """
        ran: list[chain.Chain] = []
        streams = [own for _, own in self.with_streams(stream)]
        starts = self.starting.of_rows(x, rows, streams, self.seed, update)
        for stage, own, z in zip(self.stages, streams, starts, strict=True):
            before = ran[-1].x if ran else None
            ran.append(stage.run(stage.begin(z, before), own, *y))
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
            stage.compile(
                jit_compile=bool(jit_compile),
                project=self.starting.start.project(stage.image_shape),
                level=self.starting.level,
            )
            self._shared_chains.append(self._share(stage.ends))
        self._shared_ascent = self._share(self._ascend)

    def _ascend(self, rows: Sequence[tf.Tensor], K: tf.Tensor) -> tf.Tensor:
        """The ends of the chains without noise after K steps.

        Args:
            rows: starts z, and labels if the model is conditional.
            K: steps of all stages together.
        """
        z, *y = rows
        x = None
        for i, (stage, start) in enumerate(
            zip(self.stages, self._split(z), strict=True)
        ):
            steps = self._within(i, K)
            x = stage.begin(start, x, steps > 0)
            x = stage.compiled.ascend(x, steps, *y)
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
        """How many of the first K steps of a chain are those of stage i."""
        return scales.steps_within(i, K, [stage.K for stage in self.stages])

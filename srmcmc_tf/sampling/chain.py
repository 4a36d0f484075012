"""Short-run chains: K steps from a start, nothing kept between calls."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.sampling import kernels, stopping
from srmcmc_tf.sampling.kernels import LANGEVIN, Energy, Kernel, Project, Step
from srmcmc_tf.sampling.rng import AnyStream, StreamPerRow


class Chain(NamedTuple):
    """The ends of chains, and statistics of their steps.

    Attributes:
        x: the ends, float32, of the shape of the starts; never clipped, but
            by a kernel that clamps.
        f_prime_norm: float32 scalar, the mean over chains and steps of the
            Euclidean norm of f' (Table 2 of the paper).
        accepted: float32 scalar, the share of accepted steps; 1 for a kernel
            without a Metropolis correction.
        steps: int32 [n], the steps each chain made: K, or its stopping time.
        evaluations: int32 [n], the evaluations of f' each chain cost.
    """

    x: tf.Tensor
    f_prime_norm: tf.Tensor
    accepted: tf.Tensor
    steps: tf.Tensor
    evaluations: tf.Tensor


def run(
    f: Energy,
    x: tf.Tensor,
    stream: AnyStream,
    *,
    K: Any,
    step_size: Any = 1.0,
    noise: Any = 0.01,
    first: Any = 0,
    kernel: Kernel = LANGEVIN,
    project: Project | None = None,
    holds: stopping.Holds | None = None,
    compact: bool = False,
    y: tf.Tensor | None = None,
) -> Chain:
    """Moves `x` by `K` steps of a kernel, by default Langevin's.

    Call it inside a `tf.function`: the loop becomes one graph whose memory
    does not grow with K, and another K does not retrace.

    Args:
        f: callable, a batch [n, ...] to values [n] or [n, 1]; higher is more
            likely.
        x: float32 starts, shape [n, ...].
        stream: of `rng`: one for the whole batch, or a `StreamPerRow`, with
            which a chain does not depend on those beside it.
        K: number of steps, an integer or an integer scalar.
        step_size: factor of the gradient.
        noise: factor of the Gaussian noise, or one for each step; those after
            the last have its factor.
        first: number of the first step, if a chain is continued: the noise of
            a step is a function of the stream and its number.
        kernel: which step; see `kernels`.
        project: the directions in which chains may move; see `kernels.step`.
        holds: when a chain stops early; see `stopping`. By default none does.
        compact: whether stopped chains leave the batch. Needs a
            `StreamPerRow`; impossible under XLA.
        y: labels, int32 [n], if f is a function of [x, y]: each chain has its
            own from start to end.
    """

    def move(
        x: tf.Tensor, stream: AnyStream, k: tf.Tensor, rows: Any = None
    ) -> Step:
        factors = dict(step_size=step_size, noise=noise_at(noise, k))
        some = y if y is None or rows is None else tf.gather(y, rows)
        energy = kernels.given(f, some)
        return kernels.step(
            energy, x, stream, k, kernel=kernel, project=project, **factors
        )

    ks = tf.range(first, first + K)
    if holds is not None:
        loop: Any = stopping.compacted if compact else stopping.masked
        end = loop(move, x, stream, holds, ks)
        cost = end.tried * kernel.evaluations
        return Chain(end.x, end.f_prime_norm, end.accepted, end.steps, cost)
    norm = accepted = tf.zeros([])
    for k in ks:
        made = move(x, stream, k)
        x = made.x
        norm += tf.reduce_mean(made.f_prime_norm)
        accepted += tf.reduce_mean(made.accepted)
    count = tf.cast(tf.maximum(K, 1), tf.float32)
    steps = tf.fill(tf.shape(x)[:1], tf.cast(K, tf.int32))
    cost = steps * kernel.evaluations
    return Chain(x, norm / count, accepted / count, steps, cost)


def langevin(
    f: Energy,
    x: tf.Tensor,
    stream: AnyStream,
    *,
    K: Any,
    step_size: Any = 1.0,
    noise: Any = 0.01,
    first: Any = 0,
) -> Chain:
    """Moves `x` by `K` steps of `x + step_size * f'(x) + noise * N(0, I)`.

    The defaults are those of the paper's code. Such a chain approaches the
    density exp(f(x) / T) with the temperature T = noise**2 / (2 * step_size),
    here 5e-5: nearly gradient ascent. The paper's text has T = 1, that is
    `step_size = s / 2` and `noise = sqrt(s)` for a discretisation s.

    Args are those of `run`, whose default kernel this is.
    """
    factors = dict(step_size=step_size, noise=noise)
    return run(f, x, stream, K=K, first=first, **factors)


def ascend(
    f: Energy, x: tf.Tensor, *, K: Any, step_size: Any = 1.0
) -> tf.Tensor:
    """Moves `x` by `K` steps of `x + step_size * f'(x)`: no noise.

    Args are those of `langevin`; returns the ends.
    """
    for _ in tf.range(K):
        x = x + step_size * kernels.gradient(f, x)
    return x


def noise_at(noise: Any, k: tf.Tensor) -> tf.Tensor:
    """The factor of the noise of step k: `noise`, or one of several."""
    noise = tf.reshape(tf.cast(noise, tf.float32), [-1])
    return noise[tf.minimum(k, tf.size(noise) - 1)]


class Compiled(NamedTuple):
    """`run` and `ascend` on one energy, each as a `tf.function`.

    Attributes:
        langevin: (x, stream, K, noise, first) to a `Chain`; it runs whatever
            kernel was chosen, by default Langevin's.
        ascend: (x, K) to the ends.

    Both take the labels y last, if f is a function of [x, y].
    """

    langevin: Callable[..., Chain]
    ascend: Callable[..., tf.Tensor]


def compiled(
    f: Energy,
    *,
    step_size: float,
    jit_compile: bool,
    kernel: Kernel = LANGEVIN,
    project: Project | None = None,
    holds: stopping.Holds | None = None,
) -> Compiled:
    """Compiles the chains of an energy, by XLA if `jit_compile`.

    The other settings are those of `run`. Chains that stop leave the batch
    where each has its own stream, as in sampling, and XLA is off.
    """

    def compile(function: Any) -> Any:
        return compat.without_retracing_warning(
            tf.function(
                function, jit_compile=jit_compile, reduce_retracing=True
            )
        )

    def chain(
        x: tf.Tensor,
        stream: AnyStream,
        K: tf.Tensor,
        noise: tf.Tensor,
        first: tf.Tensor,
        y: tf.Tensor | None = None,
    ) -> Chain:
        factors = dict(step_size=step_size, noise=noise)
        return run(
            f,
            x,
            stream,
            K=K,
            first=first,
            kernel=kernel,
            project=project,
            holds=holds,
            compact=isinstance(stream, StreamPerRow) and not jit_compile,
            y=y,
            **factors,
        )

    def ascent(
        x: tf.Tensor, K: tf.Tensor, y: tf.Tensor | None = None
    ) -> tf.Tensor:
        return ascend(kernels.given(f, y), x, K=K, step_size=step_size)

    return Compiled(compile(chain), compile(ascent))


def settings(K: Any, noise: Any, first: Any = 0) -> tuple[tf.Tensor, ...]:
    """Those of `Compiled.langevin` as tensors: another value cannot retrace."""
    K, first = tf.cast(K, tf.int32), tf.cast(first, tf.int32)
    return K, tf.reshape(tf.cast(noise, tf.float32), [-1]), first

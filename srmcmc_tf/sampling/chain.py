"""Short-run chains: K steps from a start, nothing kept between calls."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from srmcmc_tf.sampling.rng import AnyStream

Energy = Callable[[tf.Tensor], tf.Tensor]


class Chain(NamedTuple):
    """The ends of chains, and a statistic of their steps.

    Attributes:
        x: the ends, float32, of the shape of the starts; never clipped.
        f_prime_norm: float32 scalar, the mean over chains and steps of the
            Euclidean norm of f' (Table 2 of the paper).
    """

    x: tf.Tensor
    f_prime_norm: tf.Tensor


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
        noise: factor of the Gaussian noise.
        first: number of the first step, if a chain is continued: the noise of
            a step is a function of the stream and its number.
    """
    total = tf.zeros([])
    for k in tf.range(first, first + K):
        f_prime = _gradient(f, x)
        total += _mean_norm(f_prime)
        draw = stream.fold(k).normal(tf.shape(x))
        # Minus, though the noise is symmetric: TensorFlow fuses a sum of three
        # into AddN, which adds in an order that depends on timing.
        x = x + step_size * f_prime - noise * tf.ensure_shape(draw, x.shape)
    return Chain(x, total / tf.cast(tf.maximum(K, 1), tf.float32))


def ascend(
    f: Energy, x: tf.Tensor, *, K: Any, step_size: Any = 1.0
) -> tf.Tensor:
    """Moves `x` by `K` steps of `x + step_size * f'(x)`: no noise.

    Args are those of `langevin`; returns the ends.
    """
    for _ in tf.range(K):
        x = x + step_size * _gradient(f, x)
    return x


class Compiled(NamedTuple):
    """`langevin` and `ascend` on one energy, each as a `tf.function`.

    Attributes:
        langevin: (x, stream, K, noise, first) to a `Chain`.
        ascend: (x, K) to the ends.
    """

    langevin: Callable[..., Chain]
    ascend: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


def compiled(f: Energy, *, step_size: float, jit_compile: bool) -> Compiled:
    """Compiles the chains of an energy, by XLA if `jit_compile`."""
    compile = tf.function(jit_compile=jit_compile, reduce_retracing=True)

    def chain(
        x: tf.Tensor,
        stream: AnyStream,
        K: tf.Tensor,
        noise: tf.Tensor,
        first: tf.Tensor,
    ) -> Chain:
        factors = dict(step_size=step_size, noise=noise)
        return langevin(f, x, stream, K=K, first=first, **factors)

    def ascent(x: tf.Tensor, K: tf.Tensor) -> tf.Tensor:
        return ascend(f, x, K=K, step_size=step_size)

    return Compiled(compile(chain), compile(ascent))


def settings(K: Any, noise: Any, first: Any = 0) -> tuple[tf.Tensor, ...]:
    """Those of `Compiled.langevin` as tensors: another value cannot retrace."""
    K, first = tf.cast(K, tf.int32), tf.cast(first, tf.int32)
    return K, tf.cast(noise, tf.float32), first


def _gradient(f: Energy, x: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        value = f(x)
    return tape.gradient(value, x)


def _mean_norm(x: tf.Tensor) -> tf.Tensor:
    axes = list(range(1, x.shape.rank))
    return tf.reduce_mean(tf.sqrt(tf.reduce_sum(tf.square(x), axes)))

"""Short-run chains: K steps from a start, nothing kept between calls."""

from typing import NamedTuple

import tensorflow as tf

from srmcmc_tf.sampling import rng


class Chain(NamedTuple):
    """Where a chain ended, and what it met on the way.

    Attributes:
        x: the ends, float32, of the shape of the starts; never clipped.
        f_prime_norm: float32 scalar, the mean over chains and steps of the
            Euclidean norm of f' (Table 2 of the paper).
    """

    x: tf.Tensor
    f_prime_norm: tf.Tensor


def langevin(f, x, seed, *, K, step_size=1.0, noise=0.01, first=0):
    """Moves `x` by `K` steps of `x + step_size * f'(x) + noise * N(0, I)`.

    The defaults are those of the paper's code. Such a chain heads for the
    density exp(f(x) / T) with the temperature T = noise**2 / (2 * step_size),
    here 5e-5: nearly gradient ascent. The paper's text has T = 1, that is
    `step_size = s / 2` and `noise = sqrt(s)` for a discretisation s.

    Call it inside a `tf.function`: the loop becomes one graph whose memory
    does not grow with K, and another K is no new trace.

    Args:
        f: callable, a batch [n, ...] to values [n] or [n, 1]; higher is more
            likely.
        x: float32 starts, shape [n, ...].
        seed: int32 [2], one stream for the whole batch; or [n, 2], one a
            chain, which makes a chain independent of those beside it.
        K: number of steps, an integer or an integer scalar.
        step_size: factor of the gradient.
        noise: factor of the Gaussian noise; 0 makes the chain deterministic.
        first: number of the first step, where a chain goes on: its noise is a
            function of (seed, number).

    Returns:
        A `Chain`.
    """
    deterministic = isinstance(noise, float) and noise == 0.0
    total = tf.zeros([])
    for k in tf.range(first, first + K):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(x)
            value = f(x)
        f_prime = tape.gradient(value, x)
        total += _mean_norm(f_prime)
        # Minus, though the noise is symmetric: TensorFlow fuses a sum of three
        # into AddN, which adds in an order that depends on timing.
        x = x + step_size * f_prime
        if not deterministic:
            draw = rng.normal(tf.shape(x), rng.fold(seed, k))
            x = x - noise * tf.ensure_shape(draw, x.shape)
    return Chain(x, total / tf.cast(tf.maximum(K, 1), tf.float32))


def compiled(f, *, step_size=1.0, jit_compile=False):
    """`langevin` on `f` as a `tf.function` of (x, seed, K, noise, first)."""

    def chain(x, seed, K, noise, first):
        return langevin(
            f, x, seed, K=K, step_size=step_size, noise=noise, first=first
        )

    return tf.function(chain, jit_compile=jit_compile, reduce_retracing=True)


def _mean_norm(x):
    axes = list(range(1, x.shape.rank))
    return tf.reduce_mean(tf.sqrt(tf.reduce_sum(tf.square(x), axes)))

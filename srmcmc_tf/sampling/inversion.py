"""Inference of z: descent on ||x - M(z)||^2 through all steps of the chain."""

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf
from tqdm import tqdm

from srmcmc_tf.sampling import chain
from srmcmc_tf.sampling.chain import Energy
from srmcmc_tf.sampling.piecewise import piecewise_linear

# Default factor of the gradient for each rule, as measured.
STEP = {"descent": 0.1, "adam": 0.1}
_OPTIMIZERS = {"descent": keras.optimizers.SGD, "adam": keras.optimizers.Adam}

Observe = Callable[[tf.Tensor], tf.Tensor]
Pullback = Callable[[tf.Tensor], tf.Tensor]
Run = Callable[..., tuple[tf.Tensor, Pullback]]


class Reconstruction(NamedTuple):
    """The result of an inference of z.

    Attributes:
        x: the reconstructions M(z) [n, h, w, c], not clipped.
        z: their starts or latents, [n, ...].
        mse: mean squared error per pixel and channel, of what was observed,
            [iterations + 1, n]; images in [-1, 1].
        frames: M(z) at some iterations, [s, n, h, w, c].
    """

    x: tf.Tensor
    z: tf.Tensor
    mse: tf.Tensor
    frames: tf.Tensor


def infer(
    run: Run,
    x: tf.Tensor,
    z: tf.Tensor,
    *,
    metric: Any = 1.0,
    best: bool = False,
    observe: Observe = tf.identity,
    iterations: int = 200,
    rule: str = "descent",
    step: float | None = None,
    keep: Container[int] = (),
    share: Callable[[Callable], Callable] = lambda function: function,
    y: Sequence[tf.Tensor] = (),
) -> Reconstruction:
    """Descends on ||observe(x) - observe(M(z))||^2 from given starts.

    Args:
        run: the chains: starts z to what `with_pullback` returns.
        x: images [n, h, w, c].
        z: the first starts.
        metric: factors of the gradient's entries, which make a step of z move
            M(z) as far at each scale.
        best: whether z, M(z), errors and frames are those of the best z so
            far, for each image, not of the last: M jumps at the kinks of f,
            so that a descent does not come to rest.
        observe: images to what is known of them.
        iterations: steps of the descent.
        rule: "descent" or "adam".
        step: factor of the gradient; by default `STEP[rule]`.
        keep: iterations at which M(z) is kept as a frame.
        share: wraps a function of a list of tensors [n, ...] so that devices
            share its rows.
        y: tensors [n, ...] that `run` is given beside z, such as labels.
    """
    target = observe(x)

    @tf.function
    def gradient(rows: list[tf.Tensor]) -> tuple[tf.Tensor, ...]:
        z, target, *y = rows
        ends, losses, slope = misfit(
            lambda z: run(z, *y), z, target, observe=observe
        )
        return ends, losses, metric * slope

    gradient = share(gradient)
    variable = tf.Variable(z)
    optimizer = _OPTIMIZERS[rule](STEP[rule] if step is None else step)

    found: list[tf.Tensor] = []  # losses, z and M(z)

    def evaluate(i: int) -> tuple[tf.Tensor, tf.Tensor]:
        now = tf.identity(variable)
        ends, losses, slope = gradient([now, target, *y])
        if i < iterations:
            optimizer.apply_gradients([(slope, variable)])
        new = [losses, now, ends]
        found[:] = _better(new, found) if best and found else new
        return found[2], found[0] / _pixels(target)

    ends, mse, frames = iterate(evaluate, iterations, keep)
    return Reconstruction(ends, found[1], mse, frames)


def descend(
    run: Run,
    x: tf.Tensor,
    z: tf.Tensor,
    *,
    iterations: Any,
    metric: Any = 1.0,
    best: bool = False,
) -> tuple[tf.Tensor, tf.Tensor]:
    """What `infer` finds by the rule "descent", as one graph, for an export.

    Call it inside a `tf.function`.

    Args:
        run, x, z, metric, best: see `infer`.
        iterations: steps of the descent, an integer scalar.

    Returns:
        The ends M(z) [n, ...] and their mean squared errors [n].
    """
    ends, losses, slope = misfit(run, z, x)
    for _ in tf.range(iterations):
        z = z - STEP["descent"] * (metric * slope)
        new_ends, new_losses, slope = misfit(run, z, x)
        if best:
            new_losses, new_ends = _better(
                [new_losses, new_ends], [losses, ends]
            )
        ends, losses = new_ends, new_losses
    return ends, losses / _pixels(x)


def _better(a: list[tf.Tensor], b: list[tf.Tensor]) -> list[tf.Tensor]:
    """For each row that of `a` or `b` with the smaller loss, their first."""
    smaller = a[0] < b[0]
    return [
        tf.where(
            tf.reshape(smaller, [-1] + [1] * (new.shape.rank - 1)), new, old
        )
        for new, old in zip(a, b, strict=True)
    ]


def misfit(
    run: Run,
    z: tf.Tensor,
    target: tf.Tensor,
    *,
    observe: Observe = tf.identity,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """M(z), ||target - observe(M(z))||^2 per row, and its gradient by z."""
    axes = list(range(1, target.shape.rank))

    def loss(ends: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.square(target - observe(ends)), axes)

    return _through(run, z, loss)


def iterate(
    evaluate: Callable[[int], tuple[tf.Tensor, tf.Tensor]],
    iterations: int,
    keep: Container[int],
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Runs the iterations of an inference with a progress bar.

    Args:
        evaluate: iteration, 0 to `iterations`, to images [n, ...] and their
            mean squared errors [n].
        iterations: number of the last one.
        keep: iterations whose images are kept as frames.

    Returns:
        The last images, all errors [iterations + 1, n], and the frames.
    """
    mse, frames = [], []
    bar = tqdm(range(iterations + 1), unit=" iterations", delay=2, leave=False)
    for i in bar:
        ends, errors = evaluate(i)
        mse.append(errors)
        if i in keep:
            frames.append(ends)
    frames = tf.stack(frames) if frames else ends[None][:0]
    return ends, tf.stack(mse), frames


def through_chain(
    f: Energy,
    z: tf.Tensor,
    loss: Callable[[tf.Tensor], tf.Tensor],
    *,
    K: Any,
    step_size: Any = 1.0,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The loss at the chain's end and its gradient with respect to the start.

    Args:
        f: callable, a batch to values; see `with_pullback`.
        z: starts, float32 [n, ...].
        loss: callable, ends [n, ...] to one loss each, [n].
        K: steps, an integer or an integer scalar.
        step_size: factor of f' in a step.

    Returns:
        The ends M(z) [n, ...], their losses [n], the gradient [n, ...].
    """
    return _through(
        lambda z: with_pullback(f, z, K=K, step_size=step_size), z, loss
    )


def _through(
    run: Run, z: tf.Tensor, loss: Callable[[tf.Tensor], tf.Tensor]
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    x, pullback = run(z)
    with tf.GradientTape() as tape:
        tape.watch(x)
        losses = loss(x)
    return x, losses, pullback(tape.gradient(losses, x))


def with_pullback(
    f: Energy, z: tf.Tensor, *, K: Any, step_size: Any = 1.0
) -> tuple[tf.Tensor, Pullback]:
    """The ends of chains without noise, and how a gradient comes back.

    If f is piecewise linear (`piecewise.piecewise_linear`), as the paper's
    networks are, f' is piecewise constant and the chain's Jacobian is the
    identity almost everywhere: a gradient at M(z) is the one at z, and the
    chain is not run again. Any other f takes `in_segments`, which finds the
    same for these networks.

    Args:
        f: callable, a batch to values; twice differentiable where it is
            differentiable.
        z: starts, float32 [n, ...].
        K: steps, an integer or an integer scalar.
        step_size: factor of f' in a step.

    Returns:
        The ends M(z) [n, ...]; a function from a gradient with respect to
        them to the one with respect to z. Chains one after another compose.
    """
    if piecewise_linear(f):
        return chain.ascend(f, z, K=K, step_size=step_size), tf.identity
    return in_segments(f, z, K=K, step_size=step_size)


def in_segments(
    f: Energy, z: tf.Tensor, *, K: Any, step_size: Any = 1.0
) -> tuple[tf.Tensor, Pullback]:
    """`with_pullback` for any f.

    Only the starts of about sqrt(K) segments are kept; the way back repeats
    each segment under a tape. So memory grows as sqrt(K).
    """

    def segment(x: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
        steps = tf.minimum(length, K - number * length)
        return chain.ascend(f, x, K=steps, step_size=step_size)

    length = tf.cast(tf.math.ceil(tf.sqrt(tf.cast(K, tf.float32))), tf.int32)
    n = -(-K // tf.maximum(length, 1))
    starts = tf.TensorArray(tf.float32, n, element_shape=z.shape)
    x = z
    for i in tf.range(n):
        starts = starts.write(i, x)
        x = segment(x, i)

    def pullback(gradient: tf.Tensor) -> tf.Tensor:
        for i in tf.range(n - 1, -1, -1):
            start = starts.read(i)
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(start)
                end = segment(start, i)
            gradient = tape.gradient(end, start, output_gradients=gradient)
        return gradient

    return x, pullback


def _pixels(x: tf.Tensor) -> tf.Tensor:
    """Numbers in one row of `x`, as a float."""
    return tf.cast(tf.size(x[0]), tf.float32)

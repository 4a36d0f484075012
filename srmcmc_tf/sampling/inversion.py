"""Inference of z: descent on ||x - M(z)||^2 through all steps of the chain."""

from typing import NamedTuple

import keras
import tensorflow as tf
from tqdm import tqdm

from srmcmc_tf.distribution import replicas
from srmcmc_tf.sampling import chain

# Factor of the gradient for each rule, as measured (README).
STEP = {"descent": 0.1, "adam": 0.1}


class Reconstruction(NamedTuple):
    """What came of an inference of z.

    Attributes:
        x: the reconstructions M(z) [n, h, w, c], not clipped.
        z: their starts [n, h, w, c].
        mse: mean squared error per pixel and channel, of what was observed,
            [iterations + 1, n]; images in [-1, 1].
        frames: M(z) at some iterations, [s, n, h, w, c].
    """

    x: tf.Tensor
    z: tf.Tensor
    mse: tf.Tensor
    frames: tf.Tensor


def infer(model, x, z, *, observe, iterations, rule, step, K, keep):
    """Descends on ||observe(x) - observe(M(z))||^2; see `reconstruct`."""
    step = STEP[rule] if step is None else step
    target = observe(x)
    axes = list(range(1, target.shape.rank))
    pixels = tf.cast(tf.size(target[0]), tf.float32)

    @tf.function
    def gradient(rows):
        z, target = rows

        def loss(ends):
            return tf.reduce_sum(tf.square(target - observe(ends)), axes)

        return through_chain(
            model.energy, z, loss, K=K, step_size=model.step_size
        )

    gradient = replicas.share_rows(model.distribute_strategy, gradient)

    variable = tf.Variable(z)
    optimizer = {
        "descent": keras.optimizers.SGD,
        "adam": keras.optimizers.Adam,
    }[rule](step)
    mse, frames = [], []
    bar = tqdm(range(iterations + 1), unit=" iterations", delay=2, leave=False)
    for i in bar:
        ends, losses, slope = gradient([variable.value(), target])
        mse.append(losses / pixels)
        if i in keep:
            frames.append(ends)
        if i < iterations:
            optimizer.apply_gradients([(slope, variable)])
    frames = tf.stack(frames) if frames else ends[None][:0]
    return Reconstruction(ends, variable.value(), tf.stack(mse), frames)


def through_chain(f, z, loss, *, K, step_size=1.0):
    """The loss at the chain's end and its gradient with respect to the start.

    Only the starts of about sqrt(K) segments are kept; each segment is run
    again on the way back, under a tape. So memory grows as sqrt(K).

    For networks that are piecewise linear in x, such as the paper's, f' is
    piecewise constant and the chain's Jacobian is the identity almost
    everywhere: the gradient is that of the loss at M(z). For smooth energies
    it is not, and this is exact for both.

    Args:
        f: callable, a batch to values; twice differentiable where it is
            differentiable.
        z: starts, float32 [n, ...].
        loss: callable, ends [n, ...] to one loss each, [n].
        K: steps, an integer or an integer scalar.
        step_size: factor of f' in a step.

    Returns:
        The ends M(z) [n, ...], their losses [n], the gradient [n, ...].
    """

    def segment(x, number):
        steps = tf.minimum(length, K - number * length)
        seed = tf.zeros([2], tf.int32)  # not drawn from: no noise
        return chain.langevin(
            f, x, seed, K=steps, step_size=step_size, noise=0.0
        ).x

    length = tf.cast(tf.math.ceil(tf.sqrt(tf.cast(K, tf.float32))), tf.int32)
    n = -(-K // tf.maximum(length, 1))
    starts = tf.TensorArray(tf.float32, n, element_shape=z.shape)
    x = z
    for i in tf.range(n):
        starts = starts.write(i, x)
        x = segment(x, i)
    with tf.GradientTape() as tape:
        tape.watch(x)
        losses = loss(x)
    gradient = tape.gradient(losses, x)
    for i in tf.range(n - 1, -1, -1):
        start = starts.read(i)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(start)
            end = segment(start, i)
        gradient = tape.gradient(end, start, output_gradients=gradient)
    return x, losses, gradient

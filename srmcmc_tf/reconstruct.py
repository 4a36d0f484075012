"""Inference of z: descent on ||x - M(z)||^2 through all steps of the chain."""

import tensorflow as tf

from srmcmc_tf import sampler


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
        return sampler.langevin(
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

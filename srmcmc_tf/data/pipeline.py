"""`tf.data` pipelines: noisy batches whose order is a function of the seed."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from srmcmc_tf.data.pixels import to_float
from srmcmc_tf.sampling import rng


def batches(
    images: np.ndarray,
    *,
    batch_size: int = 64,
    sigma: float | Callable[[tf.Tensor], tf.Tensor] = 0.03,
    seed: int = 0,
    start: int = 0,
    part: tuple[int, int] = (0, 1),
) -> tf.data.Dataset:
    """Returns an endless `tf.data.Dataset` of noisy batches.

    Batch t is a function of (seed, t) alone: which images, in which order
    (each once per epoch, every epoch in a new order) and which noise. So a run
    that resumes at update t sees what it would have seen.

    Args:
        images: uint8 array [n, h, w, c], or float32 points [n, d], kept in
            memory.
        batch_size: images per batch.
        sigma: standard deviation of the added Gaussian noise; a number, or a
            function of the update such as a `schedules.Anneal`.
        seed: random seed of the order and the noise.
        start: number of the first batch.
        part: (i, n) for the i-th of n equal parts of each batch, for one of n
            workers; by default the whole.

    Returns:
        A dataset of float32 [batch_size / n, h, w, c], or [batch_size / n, d],
        about [-1, 1].
    """
    n = len(images)
    images = np.asarray(images)
    if images.dtype != (np.float32 if images.ndim == 2 else np.uint8):
        raise ValueError(
            "images must be uint8 in [0, 255], points float32 [n, d]"
        )
    if not 1 <= batch_size <= n:
        raise ValueError(f"batch_size={batch_size}, but there are {n} images")
    if batch_size % part[1]:
        raise ValueError(f"batch_size={batch_size}, but {part[1]} equal parts")
    rows = batch_size // part[1]
    first = part[0] * rows
    base = rng.stream(seed)
    with tf.device("cpu"):  # the data may be larger than a GPU's memory
        images = tf.constant(images)

    def batch(update: tf.Tensor) -> tf.Tensor:
        position = tf.range(first, first + rows, dtype=tf.int64)
        position += update * batch_size
        epoch, place = position // n, position % n
        # The raw op, because index_shuffle() pads a batch of seeds wrongly.
        names = [
            tf.fill([rows], tf.cast(v, tf.int64)) for v in (seed, rng.ORDER)
        ]
        index = tf.raw_ops.RandomIndexShuffle(
            index=place,
            seed=tf.stack([*names, epoch], axis=1),
            max_index=tf.cast(n - 1, tf.int64),
        )
        x = tf.gather(images, index)
        if x.dtype == tf.uint8:
            x = to_float(x)
        stream = base.fold(rng.NOISE, update)
        rest = stream.from_row(first) if first else stream
        noise = rest.normal(tf.shape(x))
        level = sigma(update) if callable(sigma) else sigma
        return tf.ensure_shape(x + level * noise, [rows, *images.shape[1:]])

    updates = tf.data.Dataset.range(start, np.iinfo(np.int64).max)
    return updates.map(batch, num_parallel_calls=2).prefetch(2)

"""`tf.data` pipelines: noisy batches whose order is a function of the seed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from srmcmc_tf.data.pixels import to_float
from srmcmc_tf.sampling import rng

Sigma = float | Callable[[tf.Tensor], tf.Tensor]


def batches(
    images: np.ndarray,
    labels: np.ndarray | None = None,
    *,
    batch_size: int = 64,
    sigma: Sigma = 0.03,
    flip: bool = False,
    seed: int = 0,
    start: int = 0,
) -> tf.data.Dataset:
    """Returns a `tf.data.Dataset` of an epoch of noisy batches.

    Batch t is a function of (seed, t) alone: which images, in which order
    (each once per epoch, every epoch in a new order) and which noise. So a run
    that resumes at update t sees what it would have seen.

    The dataset has n // `batch_size` batches. When it is iterated again, as by
    the next epoch of `fit`, it goes on with the batch after its last one. Add
    `.repeat()` where `fit` is given `steps_per_epoch`.

    Args:
        images: uint8 array [n, h, w, c], or float32 points [n, d], kept in
            memory.
        labels: array [n, ...] that goes with the images, such as
            `Examples.labels.observed`.
        batch_size: images per batch.
        sigma: standard deviation of the added Gaussian noise; a number, or a
            function of the update such as a `schedules.Anneal`.
        flip: mirrors each image, left to right, with probability 1/2.
        seed: random seed of the order, the noise and the mirrored images.
        start: number of the first batch.

    Returns:
        A dataset of float32 [batch_size, h, w, c], or [batch_size, d], about
        [-1, 1]; with labels, of pairs (x, y).

    Examples:

    >>> images = np.zeros([100, 8, 8, 1], np.uint8)
    >>> dataset = srmcmc_tf.data.batches(images, batch_size=32)
    >>> len(dataset)
    3
    """
    batch = _batch(images, labels, batch_size, sigma, flip, seed)
    length = len(images) // batch_size
    first = start  # the batch that the next iteration starts with

    def begin() -> np.int64:
        return np.int64(first)

    def end(last: np.int64) -> np.int64:
        nonlocal first
        first = int(last) + 1
        return last

    def number(begun: tf.Tensor, i: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The number of batch i of an iteration, which reads `first` once."""
        begun = tf.cond(
            i == 0,
            lambda: tf.ensure_shape(tf.numpy_function(begin, [], tf.int64), []),
            lambda: begun,
        )
        return begun, begun + i

    def count(t: tf.Tensor, found: Any) -> Any:
        """Notes that an iteration was complete when it gives its last batch."""
        done = tf.cond(
            (t - start + 1) % length == 0,
            lambda: tf.ensure_shape(tf.numpy_function(end, [t], tf.int64), []),
            lambda: t,
        )
        with tf.control_dependencies([done]):
            return tf.nest.map_structure(tf.identity, found)

    updates = tf.data.Dataset.range(length).scan(np.int64(-1), number)
    updates = updates.map(lambda t: (t, batch(t)), num_parallel_calls=2)
    return _marked(updates.prefetch(2).map(count), sigma)


def endless(
    images: np.ndarray,
    labels: np.ndarray | None = None,
    *,
    batch_size: int = 64,
    sigma: Sigma = 0.03,
    flip: bool = False,
    seed: int = 0,
    start: int = 0,
    part: tuple[int, int] = (0, 1),
) -> tf.data.Dataset:
    """Returns the batches `start`, `start` + 1, ... of `batches`, without end.

    Args:
        images, labels, batch_size, sigma, flip, seed, start: as of `batches`.
        part: (i, n) for the i-th of n equal parts of each batch, for one of n
            workers; by default the whole.
    """
    batch = _batch(images, labels, batch_size, sigma, flip, seed, part)
    updates = tf.data.Dataset.range(start, np.iinfo(np.int64).max)
    updates = updates.map(batch, num_parallel_calls=2)
    return _marked(updates.prefetch(2), sigma)


def _marked(dataset: tf.data.Dataset, sigma: Sigma) -> tf.data.Dataset:
    """A dataset that tells `fit` that it is in range and has noise."""
    dataset.sigma = sigma
    return dataset


def _batch(
    images: np.ndarray,
    labels: np.ndarray | None,
    batch_size: int,
    sigma: Sigma,
    flip: bool,
    seed: int,
    part: tuple[int, int] = (0, 1),
) -> Callable[[tf.Tensor], Any]:
    """The function from t to batch t."""
    n = len(images)
    images = np.asarray(images)
    if images.dtype != (np.float32 if images.ndim == 2 else np.uint8):
        raise ValueError(
            "images must be uint8 in [0, 255], points float32 [n, d]"
        )
    if labels is not None and np.shape(labels)[:1] != (n,):
        raise ValueError(
            f"labels of shape {np.shape(labels)}, but there are {n} images"
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
        labels = None if labels is None else tf.constant(labels)

    def own_rows(purpose: int, update: tf.Tensor) -> rng.AnyStream:
        stream = base.fold(purpose, update)
        return stream.from_row(first) if first else stream

    def batch(update: tf.Tensor) -> Any:
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
        if flip:
            draw = own_rows(rng.FLIP, update).uniform([rows, 1, 1, 1])
            x = tf.where(draw < 0.0, x[:, :, ::-1], x)
        if callable(sigma) or sigma:
            level = sigma(update) if callable(sigma) else sigma
            noise = own_rows(rng.NOISE, update).normal(tf.shape(x))
            x = x + level * noise
        x = tf.ensure_shape(x, [rows, *images.shape[1:]])
        if labels is None:
            return x
        y = tf.gather(labels, index)
        return x, tf.ensure_shape(y, [rows, *labels.shape[1:]])

    return batch

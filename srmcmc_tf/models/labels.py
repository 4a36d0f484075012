"""The one place that checks labels: integers from 0 to the number of classes.

A label out of range is an error wherever it is known; inside a graph it ends
the call with an error of TensorFlow.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from srmcmc_tf.models import inputs


def checked(labels: Any, n_classes: int, n: Any = None) -> tf.Tensor:
    """Labels as int32 [n].

    Args:
        labels: integers [n] or [n, 1]; or one for all, if `n` is given.
        n_classes: they must be below.
        n: how many there must be, an integer or an integer scalar.
    """
    if not tf.is_tensor(labels):
        labels = np.asarray(labels)
    dtype = tf.as_dtype(labels.dtype)
    if not dtype.is_integer:
        raise TypeError(
            f"labels must be integers from 0 to {n_classes - 1}, not "
            f"{dtype.name}: convert them with y.astype(int)"
        )
    if tf.executing_eagerly():
        _check_range(np.asarray(labels), n_classes)
    labels = tf.cast(labels, tf.int32)
    if labels.shape.rank == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape.rank == 0 and n is not None:
        labels = tf.fill([n], labels)
    if labels.shape.rank not in (None, 1):
        raise ValueError(f"labels must have shape [n], not {labels.shape}")
    if isinstance(n, int) and labels.shape[0] not in (None, n):
        raise ValueError(f"{labels.shape[0]} labels for {n}: one for each")
    if tf.executing_eagerly():
        return labels
    good = tf.reduce_all((labels >= 0) & (labels < n_classes))
    rule = f"labels must be from 0 to {n_classes - 1}; got"
    with tf.control_dependencies([tf.debugging.Assert(good, [rule, labels])]):
        return tf.identity(labels)


def of_seeds(seeds: Any, labels: Any, n_classes: int) -> list[tf.Tensor]:
    """The labels of the chains of seeds: none or one tensor, int32 [n].

    Args:
        seeds: integers [n].
        labels: those of the chains, or one for all; by default seed mod
            `n_classes`.
        n_classes: 0 if the model is not conditional.
    """
    if not n_classes:
        if labels is not None:
            raise ValueError(
                "labels: the model is not conditional; see energies.conditional"
            )
        return []
    if labels is None:
        labels = tf.cast(seeds, tf.int64) % n_classes
    n = len(seeds) if not tf.is_tensor(seeds) else seeds.shape[0]
    return [checked(labels, n_classes, tf.shape(seeds)[0] if n is None else n)]


def split(data: Any) -> tuple[Any, Any]:
    """Images and labels of a pair, or of a dictionary with `label`."""
    if isinstance(data, (list, tuple)) and len(data) == 1:
        data = data[0]
    if isinstance(data, Mapping) and "label" in data:
        return data, data["label"]
    pair = isinstance(data, (list, tuple)) and len(data) == 2
    if not pair or data[1] is None:
        raise ValueError(_MISSING)
    return data[0], data[1]


def of_batch(data: Any, n_classes: int) -> tf.Tensor:
    """The labels of a batch inside `train_step` or `test_step`.

    Args:
        data: a pair of images and labels, or a dictionary with `label`.
        n_classes: they must be below.
    """
    return checked(split(data)[1], n_classes)


def pair(x: Any, y: Any, shape: inputs.Shape, n_classes: int) -> tuple:
    """What `fit` and `evaluate` are given, checked: images and labels.

    Args:
        x: arrays, or anything else that Keras takes; with labels in it, or
            with `y` beside it.
        y: labels [n], or None.
        shape: of one example.
        n_classes: 0 if the model is not conditional: labels are ignored.

    Returns:
        x and y for Keras.
    """
    if not n_classes:
        return inputs.prepare(x, shape), y
    if isinstance(x, tf.data.Dataset):
        split(x.element_spec)
        if inputs.added_sigma(x) is None:
            for first in x.take(1):
                of_batch(first, n_classes)
        return inputs.prepare(x, shape), y
    arrays = Mapping, list, tuple, np.ndarray, tf.Tensor
    if y is None and isinstance(x, arrays):
        x, y = split(x)
    images = inputs.prepare(x, shape)
    if y is not None:
        y = checked(y, n_classes, len(images)).numpy()
    return images, y


_MISSING = (
    "the model is conditional, but there are no labels: give pairs (images, "
    "labels)"
)


def _check_range(labels: np.ndarray, n_classes: int) -> None:
    bad = labels[(labels < 0) | (labels >= n_classes)]
    if bad.size:
        raise ValueError(
            f"label {int(bad.flat[0])}: must be from 0 to {n_classes - 1}"
        )

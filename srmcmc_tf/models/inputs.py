"""The one place that checks what users give as images or points.

A model's inputs are float32 in about [-1, 1], of the model's shape. What is
surely meant is converted: uint8 images are scaled, dictionaries of TFDS and
tuples with labels give their images. What only looks wrong is a warning, all
else an error of one line that names the remedy.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from srmcmc_tf.compat import tensorflow as compat

_PEEK = 64  # rows that are looked at before `fit` and others begin
_ENOUGH = 8  # images, of which one at least has a pixel below 0

Shape = tuple[int | None, ...]


def batch(data: Any, shape: Shape) -> tf.Tensor:
    """The images of a batch inside `train_step` or `test_step`.

    Args:
        data: images, a dictionary with `image`, or a tuple of either and
            labels, which are ignored.
        shape: of one example.
    """
    x, _, weight = keras.utils.unpack_x_y_sample_weight(data)
    if weight is not None:
        raise ValueError(
            "sample_weight and class_weight have no meaning for this model"
        )
    return images(x, shape)


def images(x: Any, shape: Shape, what: str = "images") -> Any:
    """Images, or other examples, as float32 [n, *shape].

    Args:
        x: an array or a tensor; uint8 images are scaled to [-1, 1]. Or a
            dictionary with `image`, or a list with one of them.
        shape: of one example.
        what: its name in errors.
    """
    x = _single(x, shape, what)
    if not keras.ops.is_tensor(x):
        try:
            x = np.asarray(x)
        except ValueError:
            raise ValueError(
                f"{what}: the elements differ in shape; give one array "
                f"{_named(shape)}"
            ) from None
    dtype = keras.backend.standardize_dtype(_known_dtype(x, what))
    _check_shape(tuple(x.shape), shape, what)
    if dtype == "uint8" and len(shape) == 3:
        return keras.ops.cast(x, "float32") / 127.5 - 1.0
    if "float" not in dtype:
        uint8 = ", or uint8 images" if len(shape) == 3 else ""
        raise TypeError(
            f"{what} must be floats about [-1, 1]{uint8}, not {dtype}: convert "
            "them with x.astype"
        )
    return keras.ops.cast(x, "float32")


def prepare(data: Any, shape: Shape) -> Any:
    """What `fit`, `evaluate` and `predict` are given, checked, for Keras.

    Looks at the first examples of arrays and datasets; an iterator that can be
    read only once is checked batch by batch later, but for its range.

    Args:
        data: arrays, or anything else that Keras takes.
        shape: of one example.

    Returns:
        `data`; of a dictionary, tuple or list of arrays, its images.
    """
    if data is None or isinstance(data, keras.utils.PyDataset):
        return data
    if isinstance(data, tf.data.Dataset):
        if added_sigma(data) is None:
            for first in data.take(1):
                x, _, _ = keras.utils.unpack_x_y_sample_weight(first)
                check_range(images(x, shape))
        return data
    if not isinstance(data, (Mapping, list, tuple, np.ndarray, tf.Tensor)):
        return data
    x = _single(data, shape, "images")
    if isinstance(x, list):
        x = np.asarray(images(x, shape))
    check_range(images(x[:_PEEK], shape))
    return x


def added_sigma(data: Any) -> Any:
    """The sigma of `data.batches` if data come from there, otherwise None."""
    if not isinstance(data, tf.data.Dataset):
        return None
    known = (getattr(d, "sigma", None) for d in compat.chain_of_datasets(data))
    return next((sigma for sigma in known if sigma is not None), None)


def check_range(x: Any) -> None:
    """Warns of float images [n, h, w, c] that are not about [-1, 1]."""
    if len(x.shape) != 4 or not tf.executing_eagerly() or not len(x):
        return
    low, high = float(np.min(x)), float(np.max(x))
    if high > 2.0 and low >= 0.0:
        found, remedy = "[0, 255]", "x / 127.5 - 1"
    elif 0.0 <= low < high <= 1.0 and len(x) >= _ENOUGH:
        found, remedy = "[0, 1]", "2 * x - 1"
    else:
        return
    warnings.warn(
        f"images seem to be in {found}, but those of the model are in [-1, 1]: "
        f"give {remedy}",
        stacklevel=3,
    )


def _single(x: Any, shape: Shape, what: str) -> Any:
    """The images among what was given."""
    if isinstance(x, Mapping):
        if "image" not in x:
            raise ValueError(
                f"{what}: a dictionary must have the key 'image', not only "
                f"{sorted(x)}; give the array itself"
            )
        return _single(x["image"], shape, what)
    if isinstance(x, tuple):
        if not x or isinstance(x[0], (tuple, list)):
            raise TypeError(
                f"{what}: a tuple must be (images, labels), not nested; give "
                "the array itself"
            )
        return _single(x[0], shape, what)
    if isinstance(x, list) and len(x) == 1 and np.ndim(x[0]) > len(shape):
        return x[0]
    return x


def _known_dtype(x: Any, what: str) -> Any:
    try:
        keras.backend.standardize_dtype(x.dtype)
        return x.dtype
    except (AttributeError, ValueError):
        found = getattr(x, "dtype", type(x).__name__)
        raise TypeError(
            f"{what} must be an array of floats about [-1, 1], not {found}"
        ) from None


def _check_shape(found: Shape, shape: Shape, what: str) -> None:
    same = len(found) == len(shape) + 1 and all(
        None in pair or pair[0] == pair[1]
        for pair in zip(found[1:], shape, strict=True)
    )
    if same:
        return
    remedy = ""
    if found[1:] == shape[:-1] and shape[-1] == 1:
        remedy = ": add the axis of the channels, x[..., None]"
    elif found == shape:
        remedy = ": add the axis of the batch, x[None]"
    given = ", ".join("n" if d is None else str(d) for d in found)
    raise ValueError(
        f"{what} must have shape {_named(shape)}, not [{given}]{remedy}"
    )


def _named(shape: Shape) -> str:
    """[n, 8, 8, 1], or [n, h, w, c] where any size will do."""
    if shape == (None, None, None):
        return "[n, h, w, c]"
    return f"[{', '.join(['n', *map(str, shape)])}]"

"""Prepared images and their labels, kept in one checked file."""

import logging
import pathlib
from typing import NamedTuple

import numpy as np

from srmcmc_tf.files import npz

logger = logging.getLogger(__name__)


class Prepared(NamedTuple):
    """uint8 images [n, h, w, c] and int32 labels [n], or None."""

    images: np.ndarray
    labels: np.ndarray | None


def load(
    path: pathlib.Path, key: str, n: int, shape: tuple[int, ...]
) -> Prepared | None:
    """Returns what was saved under `key`; None if it is missing or damaged.

    The checksums of the npz are verified, and the key, shapes and types.

    Args:
        path: the file.
        key: text that identifies the images.
        n: number of images at most; some may have been unreadable.
        shape: (h, w, c) of an image.
    """
    arrays = npz.load(path)
    if arrays is not None and _fits(arrays, key, n, shape):
        return Prepared(arrays["images"], arrays.get("labels"))
    if path.exists():
        logger.info("%s is damaged: the images are read again", path)
    return None


def save(path: pathlib.Path, key: str, prepared: Prepared) -> None:
    """Saves images; a failure only costs time later."""
    images, labels = prepared
    arrays = {"key": key.encode(), "images": images}
    if labels is not None:
        arrays["labels"] = labels
    npz.save_to_cache(path, arrays)


def _fits(
    arrays: dict[str, np.ndarray], key: str, n: int, shape: tuple[int, ...]
) -> bool:
    images, labels = arrays.get("images"), arrays.get("labels")
    if images is None or images.dtype != np.uint8 or images.ndim != 4:
        return False
    same = arrays.get("key", np.array(b"")).tobytes() == key.encode()
    fit = same and images.shape[1:] == shape and 0.98 * n < len(images) <= n
    if labels is None:
        return fit
    return fit and labels.dtype == np.int32 and labels.shape == (len(images),)

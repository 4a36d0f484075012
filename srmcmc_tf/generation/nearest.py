"""Samples beside their nearest training images: are any of them memorized?"""

import pathlib
from typing import NamedTuple

import numpy as np

from srmcmc_tf import plots
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import examples
from srmcmc_tf.runs.run import Run
from srmcmc_tf.runs.source import Source

_SHOWN = 12  # samples in the picture
_NEIGHBORS = 4  # training images beside each
_BLOCK = 4096  # training images at once


class Nearest(NamedTuple):
    """How far images are from their nearest training image.

    Distances are root mean squares per pixel and channel, of images in
    [-1, 1].

    Attributes:
        picture: the first samples, each beside its nearest training images.
        samples: the median distance of samples.
        left_out: that of left-out images, which cannot be memorized; None if
            there are none.
        n: numbers of samples, left-out and training images.
    """

    picture: pathlib.Path
    samples: float
    left_out: float | None
    n: tuple[int, int, int]


def nearest(source: Source, x: np.ndarray, directory: pathlib.Path) -> Nearest:
    """Compares samples with the training images of a run.

    Args:
        source: a run or a preset. Where it mirrors its images in training,
            mirror images count as training images.
        x: samples of it, float [n, h, w, c].
        directory: for the picture, `nearest.png`.
    """
    if not isinstance(source, Run):
        raise UserError(
            f"--nearest: {source} does not know its training images"
        )
    found = examples.load(source)
    flip = source.config.flip == "on"
    x = pixels.to_uint8(np.asarray(x))
    distances, images = neighbors(x, found.observed, flip=flip)
    left_out = None
    if len(found.left_out):
        others, _ = neighbors(found.left_out, found.observed, k=1, flip=flip)
        left_out = float(np.median(others[:, 0]))
    picture = directory / "nearest.png"
    rows = np.concatenate([x[:, None], images], axis=1)[:_SHOWN]
    labels = ["sample", *(f"nearest {i + 1}" for i in range(images.shape[1]))]
    plots.save_table(picture, rows, labels, cell=64)
    return Nearest(
        picture,
        float(np.median(distances[:, 0])),
        left_out,
        (len(x), len(found.left_out), len(found.observed)),
    )


def neighbors(
    x: np.ndarray, among: np.ndarray, *, k: int = _NEIGHBORS, flip: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest images of a set, in pixel space.

    Args:
        x: uint8 [n, h, w, c].
        among: uint8 [m, h, w, c].
        k: number of neighbors, or m if that is less.
        flip: whether mirror images of `among` belong to it.

    Returns:
        Distances [n, k], increasing, and the images [n, k, h, w, c].
    """
    ways = [among, among[:, :, ::-1]] if flip else [among]
    k = min(k, len(ways) * len(among))
    best = np.full([len(x), 0], 0.0)
    images = np.zeros([len(x), 0, *x.shape[1:]], np.uint8)
    for way in ways:
        for first in range(0, len(way), _BLOCK):
            block = way[first : first + _BLOCK]
            squares = _squares(x, block)
            order = np.argsort(squares, axis=1)[:, :k]
            best = np.concatenate(
                [best, np.take_along_axis(squares, order, axis=1)], axis=1
            )
            images = np.concatenate([images, block[order]], axis=1)
            order = np.argsort(best, axis=1, kind="stable")[:, :k]
            best = np.take_along_axis(best, order, axis=1)
            images = np.stack(
                [a[i] for a, i in zip(images, order, strict=True)]
            )
    return np.sqrt(best), images


def _squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mean squared differences of all pairs, [n, m], of images in [-1, 1]."""
    a, b = (v.reshape(len(v), -1).astype(np.float64) / 127.5 for v in (x, y))
    squares = np.square(a).sum(1)[:, None] + np.square(b).sum(1)
    return (squares - 2 * a @ b.T).clip(0) / a.shape[1]

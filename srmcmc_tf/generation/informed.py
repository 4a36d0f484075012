"""Samples that start from images: pictures, and errors of what was unknown."""

import pathlib
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from srmcmc_tf import plots
from srmcmc_tf.files import atomic
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.sampling import degrade

_SHOWN = 12


class Informed(NamedTuple):
    """What `report` measured and wrote.

    Attributes:
        record: the content of the JSON file, by method: `mse` of the unknown
            part, images in [-1, 1], and `psnr` in decibels. None where images
            only give the start, and there is nothing to compare with.
        picture: a row per chain: the image, the start, the sample, ...
        json: the file of `record`, if there is one.
    """

    record: dict[str, Any] | None
    picture: pathlib.Path
    json: pathlib.Path | None


def report(
    model: ShortRunEBM,
    images: np.ndarray,
    which: np.ndarray,
    z: np.ndarray,
    x: np.ndarray,
    directory: pathlib.Path,
) -> Informed:
    """Draws samples beside the images they start from.

    Of a "degraded" start, also compares the samples with the images where
    these were unknown, and two simple guesses with them. Where several chains
    start from an image, so is the mean of their ends: where much is unknown,
    a sample has about twice the squared error of such a mean.

    Args:
        model: a model that `needs_images`.
        images: float [n, h, w, c], whole, one for each chain.
        which: integers [n], equal for chains of the same image.
        z: the starts of their chains.
        x: the samples.
        directory: to write to.
    """
    picture = directory / "informed.png"
    start = model.starting.start
    methods = {"start": z, "sample": np.clip(x, -1, 1)}
    if start.kind != "degraded":
        _draw(picture, images, methods)
        return Informed(None, picture, None)
    group = np.unique(which, return_inverse=True)[1]
    n_images = int(group.max()) + 1
    if n_images < len(group):
        methods["average"] = _means(methods["sample"], group)[group]
    names = {"inpaint": "mean color", "upscale": "bicubic", "colorize": "gray"}
    methods[names[start.task]] = _simple(model, images)
    unknown = _unknown(model)
    record = {
        "task": start.task,
        "n": len(images),
        "n_images": n_images,
        "unknown_share": float(unknown.mean()),
        "methods": {
            name: _errors(images, y, unknown, group)
            for name, y in methods.items()
        },
    }
    with atomic.together():
        atomic.write_json(directory / "informed.json", record)
        _draw(picture, images, methods)
    return Informed(record, picture, directory / "informed.json")


def _draw(
    path: pathlib.Path, images: np.ndarray, methods: dict[str, np.ndarray]
) -> None:
    columns = {"image": images, **methods}
    table = np.stack([y[:_SHOWN] for y in columns.values()], axis=1)
    plots.save_table(path, table, list(columns))


def _means(x: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The mean of the rows [n, ...] of each group."""
    total = np.zeros([group.max() + 1, *x.shape[1:]])
    np.add.at(total, group, x)
    return total / np.bincount(group).reshape(-1, *[1] * (x.ndim - 1))


def _unknown(model: ShortRunEBM) -> np.ndarray:
    """Which pixels are unknown, bool [h, w, 1]: all but those of a mask."""
    start, (h, w, _) = model.starting.start, model.image_shape
    if start.task != "inpaint":
        return np.ones([h, w, 1], bool)
    return ~degrade.known_pixels(start.mask, h)


def _simple(model: ShortRunEBM, images: np.ndarray) -> np.ndarray:
    """The mean color of the known pixels, bicubic interpolation, or gray."""
    start = model.starting.start
    known = start.known(tf.constant(images)).numpy()
    if start.task == "inpaint":
        hole = _unknown(model)
        mean = known.sum(axis=(1, 2), keepdims=True) / (~hole).sum()
        return np.where(hole, mean, images)
    if start.task == "upscale":
        small = tf.nn.avg_pool2d(images, start.factor, start.factor, "VALID")
        large = tf.image.resize(small, model.image_shape[:2], "bicubic")
        return np.clip(large, -1, 1)
    return known


def _errors(
    images: np.ndarray, y: np.ndarray, unknown: np.ndarray, group: np.ndarray
) -> dict[str, float]:
    """Mean squared errors; their spread is that between images."""
    gaps = np.where(unknown, (y - images) ** 2, 0.0).sum(axis=(1, 2, 3))
    each = _means(gaps / (unknown.sum() * images.shape[-1]), group)
    mse = float(each.mean())
    return {
        "mse": mse,
        "mse_standard_error": float(each.std() / np.sqrt(len(each))),
        "psnr": float(10 * np.log10(4.0 / max(mse, 1e-12))),
    }

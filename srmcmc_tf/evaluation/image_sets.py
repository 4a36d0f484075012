"""Sets of images to measure: uint8, rounded exactly once."""

import concurrent.futures
import os
import pathlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from srmcmc_tf.data import folder, pixels
from srmcmc_tf.data.sources import Entry
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import digests, image_file, npz, paths
from srmcmc_tf.models.generator import Generator

# Chains at once. The number is constant because another one would retrace.
_CHAINS = 64
# Of an image in a folder: a batch of 64 is held in memory.
_MAX_PIXELS = 2**22


class ImageSet(NamedTuple):
    """A numbered set of images of one shape.

    Attributes:
        name: of the dataset, the folder or the file.
        split: which part of it.
        preprocessing: how the images were brought to their shape.
        n: number of images.
        shape: (h, w, c) of an image.
        identity: text that changes when the images do.
        read: (start, stop) to those images, uint8 [stop - start, h, w, c].

    The set of a toy has points instead, float32 of shape (d,).
    """

    name: str
    split: str
    preprocessing: str
    n: int
    shape: tuple[int, ...]
    identity: str
    read: Callable[[int, int], np.ndarray]


def from_array(
    images: np.ndarray, name: str, split: str, preprocessing: str = "square"
) -> ImageSet:
    """The `ImageSet` of an array of images, or of points."""
    return ImageSet(
        name,
        split,
        preprocessing,
        len(images),
        images.shape[1:],
        digests.of_array(images),
        lambda start, stop: images[start:stop],
    )


def from_model(model: Generator, n: int, shape: tuple[int, ...]) -> ImageSet:
    """The samples of the seeds 0 to n - 1, clipped and rounded to uint8.

    Args:
        model: draws the samples.
        n: number of samples.
        shape: (h, w, c) of a sample.
    """

    def read(start: int, stop: int) -> np.ndarray:
        starts = range(start, stop, _CHAINS)
        parts = [model.sample(range(i, i + _CHAINS)) for i in starts]
        x = np.concatenate(parts)[: stop - start]
        return x if len(shape) == 1 else pixels.to_uint8(x)

    identity = digests.of_weights(model)
    return ImageSet("samples", "seeds", "none", n, shape, identity, read)


def from_path(path: str | os.PathLike[str], split: str) -> ImageSet:
    """The `ImageSet` of a folder of images or of an npz, in a random order.

    Args:
        path: a folder, whose images must all have the same size and are used
            as they are; or an npz with one array or an array `x`, uint8 or
            floats in [-1, 1], [n, h, w, c]. The random order is fixed.
        split: "real" or "fake".
    """
    path = paths.existing(path)
    if path.is_dir():
        return _from_folder(path, split)
    images = _read_npz(path, split)
    found = from_array(images, path.stem, split, "asis")
    order = random_order(found.n)
    return found._replace(read=lambda i, j: images[order(i, j)])


def _from_folder(path: pathlib.Path, split: str) -> ImageSet:
    source = folder.source(path)
    first = _open(next(iter(source.read([0]))).content)

    def load(entry: Entry) -> np.ndarray:
        image = _open(entry.content, first.shape[2])
        if image.shape != first.shape:
            raise UserError(
                f"{entry.name} is {_size(image)}, but the first image of "
                f"{paths.shown(path)} is {_size(first)}: all must have the "
                "same size"
            )
        return image

    order = random_order(source.size)

    def read(start: int, stop: int) -> np.ndarray:
        entries = source.read(order(start, stop))
        images = np.empty((stop - start, *first.shape), np.uint8)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for i, image in enumerate(pool.map(load, entries)):
                images[i] = image
        return images

    return ImageSet(
        path.name,
        split,
        "asis",
        source.size,
        first.shape,
        source.identity,
        read,
    )


def random_order(n: int) -> Callable[[int, int], np.ndarray]:
    """A fixed permutation: (start, stop) to increasing indices.

    A folder may be sorted by class, but its first images represent all.
    """
    order = np.random.RandomState(0).permutation(n)
    return lambda start, stop: np.sort(order[start:stop])


def _open(path: pathlib.Path, channels: int | None = None) -> np.ndarray:
    """The image of a file as uint8 [h, w, c]; its own channels by default."""
    try:
        image = image_file.read(path, channels, _MAX_PIXELS)
    except ValueError as error:
        raise UserError(
            f"{paths.shown(path)} is not a readable image: {error}"
        ) from None
    return np.asarray(image).reshape(image.height, image.width, -1)


def _size(image: np.ndarray) -> str:
    return "x".join(map(str, image.shape))


def _read_npz(path: pathlib.Path, split: str) -> np.ndarray:
    """The array of an npz as uint8, without holding all of it as floats."""
    try:
        with npz.Archive(path) as archive:
            names = archive.names
            if len(names) != 1 and "x" not in names:
                raise ValueError(
                    f"arrays {', '.join(names) or '(none)'}, but none `x`"
                )
            return _read_array(archive, "x" if "x" in names else names[0])
    except ValueError as error:
        raise UserError(
            f"{paths.shown(path)} is not an npz of images: {error}"
        ) from None


def _read_array(archive: npz.Archive, name: str) -> np.ndarray:
    shape, dtype = archive.header(name)
    floats = np.issubdtype(dtype, np.floating)
    if len(shape) != 4 or shape[3] not in (1, 3) or not all(shape):
        raise ValueError(f"the array is {shape}, not [n, h, w, 1 or 3]")
    if not floats and dtype != np.uint8:
        raise ValueError(f"its images are {dtype}, neither uint8 nor floats")
    images = np.empty(shape, np.uint8)
    done = 0
    for x in archive.rows(name, _CHAINS):
        if floats and not np.isfinite(x).all():
            raise ValueError(f"infinite or NaN among images {done} and later")
        if floats and done == 0 and x.min() >= 0 and x.max() > 2:
            raise ValueError(f"floats up to {x.max():.0f}, not in [-1, 1]")
        images[done : done + len(x)] = pixels.to_uint8(x) if floats else x
        done += len(x)
    return images

"""Where the images of a metric come from: uint8, rounded exactly once."""

import concurrent.futures
import hashlib
import pathlib
import zipfile
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from PIL import Image

from srmcmc_tf.config import config as configs
from srmcmc_tf.data import pixels, sources
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import digests, npz

# Chains at once, always as many: fewer would be traced again.
_CHAINS = 64


class ImageSet(NamedTuple):
    """A numbered set of images of one shape.

    Attributes:
        name: of the data set, the folder or the file.
        split: which part of it.
        preprocessing: how the images came to their shape.
        n: how many.
        shape: (h, w, c) of one.
        identity: text that changes when the images do.
        read: (start, stop) to those images, uint8 [stop - start, h, w, c].

    Those of a toy are points, float32 of shape (d,).
    """

    name: str
    split: str
    preprocessing: str
    n: int
    shape: tuple
    identity: str
    read: Callable


def of_array(images, name, split, preprocessing="square"):
    """The `ImageSet` of an array of images, or of points."""
    return ImageSet(
        name,
        split,
        preprocessing,
        len(images),
        images.shape[1:],
        digests.digest(images),
        lambda start, stop: images[start:stop],
    )


def of_model(model, n, shape):
    """The samples of the seeds 0 to n - 1, clipped and rounded to uint8.

    Args:
        model: has `sample(seeds)`, and weights.
        n: how many.
        shape: (h, w, c) of a sample.
    """

    def read(start, stop):
        starts = range(start, stop, _CHAINS)
        parts = [model.sample(range(i, i + _CHAINS)) for i in starts]
        x = np.concatenate(parts)[: stop - start]
        return x if len(shape) == 1 else pixels.to_uint8(x)

    name = digest(model)
    return ImageSet("samples", "seeds", "none", n, shape, name, read)


def digest(model):
    """A name for the weights of a model."""
    sha = hashlib.sha256()
    for weight in model.weights:
        sha.update(np.ascontiguousarray(weight))
    return sha.hexdigest()


def of_path(path, split):
    """The `ImageSet` of a folder of images or of an npz.

    Args:
        path: a folder, whose images all have one size and are taken as they
            are; or an npz with one array or an array `x`, uint8 or floats
            about [-1, 1], [n, h, w, c]. Their order is a fixed random one.
        split: what the set is, for the name of it.
    """
    path = pathlib.Path(path).expanduser()
    if path.is_dir():
        return _of_folder(path, split)
    if not path.exists():
        raise UserError(f"--{split}={path}: no such file or folder")
    images = _of_npz(path, split)
    found = of_array(images, path.stem, split, "asis")
    order = _order(found.n)
    return found._replace(read=lambda i, j: images[order(i, j)])


def _of_folder(path, split):
    source = sources.find(configs.Config(dataset="folder", data_dir=str(path)))
    first = _open(next(iter(source.read([0])))[2])

    def load(entry):
        _, label, content = entry
        image = _open(content, first.shape[2])
        if image.shape != first.shape:
            raise UserError(
                f"{label} is {_size(image)}, but the first image of {path} is "
                f"{_size(first)}: all must have one size"
            )
        return image

    order = _order(source.size)

    def read(start, stop):
        entries = source.read(order(start, stop))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            return np.stack(list(pool.map(load, entries)))

    return ImageSet(
        path.name,
        split,
        "asis",
        source.size,
        first.shape,
        source.identity,
        read,
    )


def _order(n):
    """A fixed permutation: (start, stop) to increasing indices.

    A folder may be sorted by class, but its first images stand for all.
    """
    order = np.random.RandomState(0).permutation(n)
    return lambda start, stop: np.sort(order[start:stop])


def _open(path, channels=None):
    """A file's image as uint8 [h, w, c], grey or colour as it is or asked."""
    try:
        image = Image.open(path)
        grey = image.mode in ("1", "L", "LA", "I;16", "I", "F")
        channels = channels or (1 if grey else 3)
        image = np.asarray(image.convert("L" if channels == 1 else "RGB"))
    except Exception as error:  # Pillow raises all kinds of them
        raise UserError(f"{path} is not a readable image: {error}") from None
    return image.reshape(*image.shape[:2], channels)


def _size(image):
    return "x".join(map(str, image.shape))


def _of_npz(path, split):
    """The array of an npz as uint8, read piece by piece."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            name = "x.npy" if "x.npy" in names else names[0]
            if len(names) > 1 and name != "x.npy":
                raise ValueError(f"arrays {', '.join(names)}, but none `x`")
            with archive.open(name) as file:
                return _stream(file)
    except (*npz.DAMAGED, IndexError) as error:
        raise UserError(
            f"--{split}={path} is not an npz of images: {error}"
        ) from None


def _stream(file):
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0
    if version != (1, 0):
        header = np.lib.format.read_array_header_2_0
    shape, fortran, dtype = header(file)
    floats = np.issubdtype(dtype, np.floating)
    if len(shape) != 4 or shape[3] not in (1, 3) or fortran:
        raise ValueError(f"the array is {shape}, not [n, h, w, 1 or 3]")
    if not floats and dtype != np.uint8:
        raise ValueError(f"its images are {dtype}, neither uint8 nor floats")
    images = np.empty(shape, np.uint8)
    for i in range(0, shape[0], _CHAINS):
        part = images[i : i + _CHAINS]
        x = np.frombuffer(file.read(part.size * dtype.itemsize), dtype)
        x = x.reshape(part.shape)
        if floats and not np.isfinite(x).all():
            raise ValueError(f"infinite or NaN among images {i} and later")
        if floats and i == 0 and x.min() >= 0 and x.max() > 2:
            raise ValueError(f"floats up to {x.max():.0f}, not about [-1, 1]")
        part[:] = pixels.to_uint8(x) if floats else x
    return images

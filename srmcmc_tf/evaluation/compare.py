"""FID, KID and inception score of images from anywhere, in one call each.

    srmcmc_tf.metrics.fid(real, fake)

A set of images is one of

- an array [n, h, w, c], uint8 or floats in [-1, 1];
- a `tf.data.Dataset` of images or batches of them, with or without labels;
- the path of a folder of images, or of an npz; for `real` also an npz of the
  Inception moments `mu` and `sigma`;
- a function of n that returns n images, such as a GAN's generator;
- a model of this package, which draws the seeds 0 to n - 1.
"""

import logging
import os
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from srmcmc_tf.data import pixels
from srmcmc_tf.evaluation import evaluate, image_sets, measure, reference
from srmcmc_tf.evaluation.image_sets import ImageSet
from srmcmc_tf.evaluation.records import Record
from srmcmc_tf.evaluation.reference import Reference
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.scores.features.network import Network

logger = logging.getLogger(__name__)

Images = Any  # see above

FEW = 2_048  # images; with fewer, Inception's covariance is singular


def fid(
    real: Images, fake: Images, *, n: int | None = None, inception: str = ""
) -> float:
    """The Frechet distance between two sets of images (Heusel et al., 2017).

    Args:
        real: the images to compare with; see the module for what is accepted.
        fake: the images to judge.
        n: the number of images of `fake`, by default all; of a function or a
            model as many as there are in `real`.
        inception: path of Inception's weights, by default downloaded once.

    Returns:
        The distance; smaller is better. It is biased by n, so a warning is
        logged where n is small: only compare values with the same n. For
        gray images a digits classifier replaces Inception, and a warning is
        logged, unless `inception` is given: then they are repeated to three
        channels.

    Examples:

    >>> real, fake = np.random.default_rng(0).normal(size=(2, 80, 8, 8, 1))
    >>> fid(real.clip(-1, 1), fake.clip(-1, 1)) < fid(real.clip(-1, 1), fake**0)
    True
    """
    return _measure("fid", real, fake, n, inception)["value"]


def kid(
    real: Images, fake: Images, *, n: int | None = None, inception: str = ""
) -> tuple[float, float | None]:
    """The kernel distance between two sets of images (Binkowski et al., 2018).

    Unlike the FID it is unbiased at any n. At most 10,000 images of either
    set are used, taken at random.

    Args:
        real, fake, n, inception: as for `fid`.

    Returns:
        The distance and its standard error; None where there are too few
        images for one.
    """
    record = _measure("kid", real, fake, n, inception)
    return record["value"], record["standard_error"]


def inception_score(
    fake: Images, *, n: int | None = None, inception: str = ""
) -> tuple[float, float]:
    """The inception score of images (Salimans et al., 2016), over 10 splits.

    Args:
        fake: the images to judge; see the module for what is accepted.
        n: the number of images, by default all; a function or a model needs it.
        inception: as for `fid`.

    Returns:
        The score and its standard deviation over the splits; larger is better.
    """
    record = _measure("is", None, fake, n, inception)
    return record["value"], record["standard_deviation"]


def image_set(images: Images, name: str, n: int | None = None) -> ImageSet:
    """Returns the `ImageSet` of anything that is accepted as images.

    Args:
        images: see the module; an `ImageSet` is returned as it is.
        name: "real" or "fake", for messages.
        n: the number of images; None for all. A function and a model need it.
    """
    if isinstance(images, ImageSet):
        found = images
    elif isinstance(images, str | os.PathLike):
        found = image_sets.from_path(images, name)
    elif isinstance(images, Generator):
        found = image_sets.from_model(
            images, _needed(n, name), images.image_shape
        )
    elif isinstance(images, tf.data.Dataset):
        found = _from_array(_collect(images, name, n), name)
    elif callable(images):
        found = _from_function(images, name, _needed(n, name))
    else:
        found = _from_array(_pixels(images, name, warn=True), name)
    if n and n > found.n:
        raise ValueError(f"n={n:,}, but `{name}` has only {found.n:,} images")
    return found._replace(n=n or found.n)


def _measure(
    metric: str, real: Images, fake: Images, n: int | None, inception: str
) -> Record:
    """The record of one metric; what its context warns of is logged."""
    known = None
    if real is not None and not _is_statistics(real):
        # A function has no number of its own: it draws as many as the other.
        known = image_set(real, "real", n if _draws(real) else None)
        n = n or (known.n if _draws(fake) else None)
    images = image_set(fake, "fake", n)
    network = evaluate.network_for(images.shape, inception)
    target = _target(real, known, images, network)
    found = measure.measure(images, network, target, [metric])
    record = (found or {})[network.names[metric]]
    if record["value"] is None:
        reason = record.get("reason", "the images give no finite value")
        raise ValueError(f"no {metric}: {reason}")
    if network.names[metric] != metric:
        logger.warning(
            "gray images: this is a %s, not the %s of Inception's features; "
            "for that, give `inception`",
            network.names[metric],
            metric,
        )
    elif "warning" not in record and images.n < FEW:
        record["warning"] = f"n={images.n:,} is small for this metric"
    if "warning" in record:
        logger.warning("%s", record["warning"])
    return record


def _target(
    real: Images, known: ImageSet | None, fake: ImageSet, network: Network
) -> Reference | None:
    if known is None:
        return real and reference.from_statistics(real, "real", network)
    if known.shape != fake.shape:
        raise ValueError(
            f"`real` has images of {known.shape}, `fake` of {fake.shape}: "
            "both must have one size"
        )
    return reference.from_images(known, network)


def _is_statistics(images: Images) -> bool:
    is_path = isinstance(images, str | os.PathLike)
    return is_path and reference.is_statistics(images)


def _draws(images: Images) -> bool:
    """Whether images are drawn on demand, as many as one likes."""
    if isinstance(images, Generator):
        return True
    is_set = isinstance(images, ImageSet | tf.data.Dataset)
    return callable(images) and not is_set


def _needed(n: int | None, name: str) -> int:
    if not n:
        raise ValueError(f"`{name}` draws as many images as asked for: give n=")
    return n


def _from_array(images: np.ndarray, name: str) -> ImageSet:
    """A set in a fixed random order, since KID uses the first images."""
    found = image_sets.from_array(images, "images", name, "asis")
    order = image_sets.random_order(found.n)
    return found._replace(read=lambda i, j: images[order(i, j)])


def _from_function(
    function: Callable[[int], Any], name: str, n: int
) -> ImageSet:
    """The images of a function, each drawn once and in order."""
    first = _drawn(function, name, min(n, 64), warn=True)

    def drawn(n: int) -> np.ndarray:
        return _new(_drawn(function, name, n), first, name)

    if name == "real":  # its statistics are stored by the digest of the images
        parts = [first]
        while sum(map(len, parts)) < n:
            rest = n - sum(map(len, parts))
            parts.append(drawn(min(64, rest)))
        return _from_array(np.concatenate(parts), name)

    def read(start: int, stop: int) -> np.ndarray:
        if start:
            return drawn(stop - start)
        rest = stop - len(first)
        parts = [first] + ([drawn(rest)] if rest > 0 else [])
        return np.concatenate(parts)[:stop]

    identity = uuid.uuid4().hex  # never the same as another
    return ImageSet(
        "function", name, "asis", n, first.shape[1:], identity, read
    )


def _new(images: np.ndarray, first: np.ndarray, name: str) -> np.ndarray:
    """Images that are not those of the first call; `ValueError` if they are."""
    n = min(len(images), len(first))
    # Single ones, and all of one color, may be drawn again.
    varied = np.ptp(first[:n], axis=0).any()
    if varied and np.array_equal(images[:n], first[:n]):
        raise ValueError(
            f"`{name}` is called for some images at a time, and drew the same "
            "again: take new seeds in every call, or pass the model"
        )
    return images


def _drawn(
    function: Callable[[int], Any], name: str, n: int, *, warn: bool = False
) -> np.ndarray:
    images = _pixels(function(n), name, warn=warn)
    if len(images) != n:
        raise ValueError(f"`{name}({n})` returned {len(images)} images")
    return images


def _collect(dataset: tf.data.Dataset, name: str, n: int | None) -> np.ndarray:
    """The first images of a dataset, or all, as one array."""
    if dataset.cardinality() == tf.data.INFINITE_CARDINALITY and not n:
        raise ValueError(
            f"`{name}` is an endless dataset: give n=, or take(..)"
        )
    parts: list[np.ndarray] = []
    for element in _images_of(dataset):
        x = np.asarray(element)
        x = x if x.ndim == 4 else x[None]
        parts.append(_pixels(x, name, warn=not parts))
        if n and sum(map(len, parts)) >= n:
            break
    if not parts:
        raise ValueError(f"`{name}` is an empty dataset")
    return np.concatenate(parts)[:n]


def _images_of(dataset: tf.data.Dataset) -> Iterable[tf.Tensor]:
    """The images of elements that may be dictionaries, or have labels."""
    for element in dataset:
        if isinstance(element, dict):
            element = element.get("image", next(iter(element.values())))
        yield element[0] if isinstance(element, tuple) else element


def _pixels(images: Any, name: str, *, warn: bool = False) -> np.ndarray:
    """Images as uint8 [n, h, w, c]; `ValueError` where they are not such."""
    x = np.asarray(images)
    if x.ndim != 4 or x.shape[3] not in (1, 3) or not len(x):
        raise ValueError(
            f"`{name}` has the shape {x.shape}, not [n, h, w, 1 or 3]"
        )
    if x.dtype == np.uint8:
        return x
    if not np.issubdtype(x.dtype, np.floating):
        raise ValueError(f"`{name}` is {x.dtype}, neither uint8 nor floats")
    if not np.isfinite(x).all():
        raise ValueError(f"`{name}` has infinite or NaN pixels")
    if x.min() >= 0 and x.max() > 2:
        raise ValueError(
            f"`{name}` has floats up to {x.max():.0f}: scale them to [-1, 1], "
            "or pass uint8"
        )
    if warn and x.min() >= 0 and 0 < x.max() <= 1:
        logger.warning(
            "`%s` has floats in [0, 1], taken as [-1, 1]: pass 2 * x - 1",
            name,
        )
    return pixels.to_uint8(x)

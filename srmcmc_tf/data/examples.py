"""The examples of a config: chosen, cropped, and cached as uint8."""

import concurrent.futures
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import image_cache, pixels, sources, toys
from srmcmc_tf.data.image_cache import Prepared
from srmcmc_tf.data.sources import Entry, Source
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import cache, digests
from srmcmc_tf.sampling import rng

logger = logging.getLogger(__name__)

# Few: what a thread decoded last may stay allocated, up to 268 MB of it.
_THREADS = min(8, (os.cpu_count() or 1) + 2)


class Labels(NamedTuple):
    """The classes of `Examples`.

    Attributes:
        observed: int32 [n], of the observed ones.
        left_out: int32 [n], of those left out.
        names: of the classes 0, 1, ...
    """

    observed: np.ndarray
    left_out: np.ndarray
    names: tuple[str, ...]


class Examples(NamedTuple):
    """Both parts are uint8 images [n, h, w, c], or float32 points [n, d].

    Attributes:
        observed: what is learned from.
        left_out: never trained on; for reconstruction.
        labels: their classes; None where the dataset has none.
    """

    observed: np.ndarray
    left_out: np.ndarray
    labels: Labels | None = None


def load(config: Config) -> Examples:
    """Loads the examples of a config, read once and cached as one file.

    A fixed random choice of `n_examples` is observed, `n_left_out` others are
    left out (at most a fifth of all); it depends on the dataset alone,
    not on the run's seed. Each is cropped to its central square, resized with
    anti-aliasing and kept as uint8.
    """
    if config.data.points:
        return _points(config)
    source = sources.find(config)
    n_left_out = min(config.n_left_out, source.size // 5)
    n_observed = min(config.n_examples, source.size - n_left_out)
    _check_size(n_observed, n_left_out, config)
    n = n_observed + n_left_out

    shape = (config.image_size, config.image_size, config.channels)
    key = f"{source.identity} {shape} {n_observed} {n_left_out} v2"
    name = f"{config.data.file_name}-{digests.of_text(key, 16)}.npz"
    path = cache.cache_dir() / name
    key = digests.of_text(key)
    prepared = image_cache.load(path, key, n, shape)
    if prepared is None:
        prepared = _read(source, n, shape, config.dataset)
        image_cache.save(path, key, prepared)
    images, numbers = prepared
    # Files that could not be read are missing from the observed ones.
    i = len(images) - n_left_out
    _check_size(i, n_left_out, config)
    labels = None
    if numbers is not None:
        labels = Labels(numbers[:i], numbers[i:], source.label_names)
    return Examples(images[:i], images[i:], labels)


def load_tfds(
    name: str,
    *,
    image_size: int = 64,
    channels: int = 3,
    n_examples: int = 40_000,
    n_left_out: int = 1_000,
    data_dir: str = "",
) -> Examples:
    """Loads the training images of any dataset of TFDS, with their labels.

    Args:
        name: as for `tfds.builder`, such as "oxford_flowers102".
        image_size: height and width, a power of two.
        channels: 1 for gray, 3 for color.
        n_examples: observed examples at most, a fixed random choice.
        n_left_out: others, at most a fifth of all.
        data_dir: the directory of TFDS's datasets, by default its own.
    """
    return load(
        Config(
            dataset=f"tfds:{name}",
            image_size=image_size,
            channels=channels,
            n_examples=n_examples,
            n_left_out=n_left_out,
            data_dir=data_dir,
            batch_size=1,
        )
    )


def _points(config: Config) -> Examples:
    """The examples of a toy: exact draws, the same for every run."""
    if config.data_dir:
        raise UserError(
            f"--data_dir: {config.dataset} is generated; it does not apply"
        )
    n, n_left_out = config.n_examples, config.n_left_out
    _check_size(n, n_left_out, config)
    toy = toys.get(config.dataset, config.toy)
    points = toys.draw(toy, n + n_left_out, rng.stream(0))
    return Examples(points[:n], points[n:])


def _read(
    source: Source, n: int, shape: tuple[int, ...], name: str
) -> Prepared:
    """The first `n` readable images of a fixed permutation, in its order."""
    # RandomState's stream is frozen; those of newer generators may change.
    order = np.random.RandomState(0).permutation(source.size)
    rank = {int(index): i for i, index in enumerate(order)}
    images = np.empty((n, *shape), np.uint8)
    labels = np.zeros(n, np.int32)
    good = np.zeros(n, bool)
    skipped: list[str] = []

    def decode(entry: Entry) -> tuple[Entry, np.ndarray | ValueError]:
        try:
            return entry, pixels.square(entry.content, shape)
        except ValueError as error:
            return entry, error

    wanted = sorted(int(index) for index in order[:n])
    with (
        concurrent.futures.ThreadPoolExecutor(_THREADS) as pool,
        tqdm(total=n, desc=f"reading {name}", unit=" images", delay=2) as bar,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # Pillow's remarks on odd metadata
        for entry, image in _ahead(pool, decode, source.read(wanted)):
            bar.update()
            if isinstance(image, ValueError):
                skipped.append(entry.name)
                logger.info("skipped %s: %s", entry.name, image)
                if 100 * len(skipped) > n:
                    raise UserError(
                        f"{len(skipped)} of {bar.n} files are not readable "
                        f"images, the last {entry.name} ({image}): more than "
                        "1 in 100; is this the right folder?"
                    )
                continue
            place = rank[entry.number]
            images[place], good[place] = image, True
            labels[place] = entry.label or 0
    if skipped:
        logger.info("%s: %d of %d files skipped", name, len(skipped), n)
    return Prepared(images[good], labels[good] if source.label_names else None)


def _ahead(
    pool: concurrent.futures.Executor,
    function: Callable[[Entry], Any],
    entries: Iterable[Entry],
    window: int = 64,
) -> Iterator[Any]:
    """`pool.map`, but with at most `window` entries in memory at once."""
    pending = []
    for entry in entries:
        pending.append(pool.submit(function, entry))
        if len(pending) >= window:
            yield pending.pop(0).result()
    for future in pending:
        yield future.result()


def _check_size(n: int, n_left_out: int, config: Config) -> None:
    if n < config.batch_size:
        raise UserError(
            f"{config.dataset} has only {n + n_left_out} files or images, "
            f"{n_left_out} of them left out: fewer than --batch_size="
            f"{config.batch_size} to learn from"
        )

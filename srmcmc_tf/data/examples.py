"""The examples of a config: chosen, cropped, and cached as uint8."""

import concurrent.futures
import logging
import pathlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import pixels, sources, toys
from srmcmc_tf.data.sources import Entry, Source
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, cache, digests
from srmcmc_tf.sampling import rng

logger = logging.getLogger(__name__)


class Examples(NamedTuple):
    """Both parts are uint8 images [n, h, w, c], or float32 points [n, d].

    Attributes:
        observed: what is learned from.
        left_out: never trained on; for reconstruction.
    """

    observed: np.ndarray
    left_out: np.ndarray


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
    key = f"{source.identity} {shape} {n_observed} {n_left_out} v1"
    digest = digests.of_text(key, 16)
    name = f"{config.dataset}-{digest}.npy"
    path = cache.cache_dir() / name
    images = _cached(path)
    if images is None:
        images = _read(source, n, shape, config.dataset)
        _save(path, images)
    # Files that could not be read are missing from the observed ones.
    n_observed = len(images) - n_left_out
    _check_size(n_observed, n_left_out, config)
    return Examples(images[:n_observed], images[n_observed:])


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
) -> np.ndarray:
    """The first `n` readable images of a fixed permutation, in its order."""
    # RandomState's stream is frozen; those of newer generators may change.
    order = np.random.RandomState(0).permutation(source.size)
    rank = {int(index): i for i, index in enumerate(order)}
    images = np.empty((n, *shape), np.uint8)
    good = np.zeros(n, bool)
    skipped: list[str] = []

    def decode(entry: Entry) -> tuple[int, str, np.ndarray | Exception]:
        index, label, content = entry
        try:
            return index, label, pixels.square(content, shape)
        except Exception as error:  # Pillow raises all kinds of them
            return index, label, error

    wanted = sorted(int(index) for index in order[:n])
    with (
        concurrent.futures.ThreadPoolExecutor() as pool,
        tqdm(total=n, desc=f"reading {name}", unit=" images", delay=2) as bar,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # Pillow's remarks on odd metadata
        for index, label, image in _ahead(pool, decode, source.read(wanted)):
            bar.update()
            if isinstance(image, Exception):
                skipped.append(label)
                logger.info("skipped %s: %s", label, image)
                if 100 * len(skipped) > n:
                    raise UserError(
                        f"{len(skipped)} of {bar.n} files are not readable "
                        f"images, the last {label}: more than 1 in 100; is "
                        "this the right folder?"
                    )
                continue
            images[rank[index]], good[rank[index]] = image, True
    if skipped:
        logger.info("%s: %d of %d files skipped", name, len(skipped), n)
    return images[good]


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


def _cached(path: pathlib.Path) -> np.ndarray | None:
    """Returns the array at `path`; None where it is missing or incomplete."""
    try:
        return np.load(path)
    except (OSError, ValueError, EOFError):
        return None


def _save(path: pathlib.Path, array: np.ndarray) -> None:
    """Caches an array; a failure only costs time later."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic.writer(path) as file:
            np.save(file, array)
    except OSError as error:
        logger.info("could not cache the images in %s: %s", path, error)

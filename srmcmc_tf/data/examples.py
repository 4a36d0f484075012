"""The examples of a config: chosen, cropped, and cached as uint8."""

import concurrent.futures
import hashlib
import os
import warnings
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from srmcmc_tf.data import pixels, sources, toys
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import cache
from srmcmc_tf.sampling import rng


class Examples(NamedTuple):
    """Both parts uint8 [n, h, w, c]; the second is never trained on.

    Those of a toy are points, float32 [n, d].
    """

    observed: np.ndarray
    left_out: np.ndarray


def load(config):
    """The images of a config, read once and cached as one file.

    A fixed random choice of `n_examples` is observed, `n_left_out` others are
    left out (a fifth of all at the most); it depends on the data set alone,
    not on the run's seed. Each is cropped to its central square, resized with
    anti-aliasing and kept as uint8.

    Args:
        config: a `Config`.

    Returns:
        `Examples`.
    """
    if config.toy:
        return _points(config)
    source = sources.find(config)
    n_left_out = min(config.n_left_out, source.size // 5)
    n_observed = min(config.n_examples, source.size - n_left_out)
    _check_size(n_observed, n_left_out, config)
    n = n_observed + n_left_out

    shape = (config.image_size, config.image_size, config.channels)
    key = f"{source.identity} {shape} {n_observed} {n_left_out} v1"
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    path = cache.cache_dir() / f"{config.dataset}-{digest}.npy"
    images = _cached(path)
    if images is None:
        images = _read(source, n, shape, config.dataset)
        _save(path, images)
    # Files that could not be read are missing from the observed ones.
    n_observed = len(images) - n_left_out
    _check_size(n_observed, n_left_out, config)
    return Examples(images[:n_observed], images[n_observed:])


def _points(config):
    """The examples of a toy: exact draws, the same for every run."""
    if config.data_dir:
        raise UserError(f"--data_dir: {config.dataset} is drawn, not read")
    n, n_left_out = config.n_examples, config.n_left_out
    _check_size(n, n_left_out, config)
    toy = toys.get(config.dataset, config.toy)
    points = toys.draw(toy, n + n_left_out, rng.seed_of(0))
    return Examples(points[:n], points[n:])


def _read(source, n, shape, name):
    """The first `n` readable images of a fixed permutation, in its order."""
    # RandomState's stream is frozen; those of newer generators may change.
    order = np.random.RandomState(0).permutation(source.size)
    rank = {int(index): i for i, index in enumerate(order)}
    images = np.empty((n, *shape), np.uint8)
    good = np.zeros(n, bool)
    skipped = []

    def decode(entry):
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
                tqdm.write(f"skipped {label}: {image}")
                if 100 * len(skipped) > n:
                    raise UserError(
                        f"{len(skipped)} of {bar.n} files are not readable "
                        f"images, the last {label}: more than 1 in 100; is "
                        "this the right folder?"
                    )
                continue
            images[rank[index]], good[rank[index]] = image, True
    if skipped:
        tqdm.write(f"{name}: {len(skipped)} of {n} files skipped")
    return images[good]


def _ahead(pool, function, entries, window=64):
    """`pool.map`, but with at most `window` entries in memory at once."""
    pending = []
    for entry in entries:
        pending.append(pool.submit(function, entry))
        if len(pending) >= window:
            yield pending.pop(0).result()
    for future in pending:
        yield future.result()


def _check_size(n, n_left_out, config):
    if n < config.batch_size:
        raise UserError(
            f"{config.dataset} has only {n + n_left_out} files or images, "
            f"{n_left_out} of them left out: fewer than --batch_size="
            f"{config.batch_size} to learn from"
        )


def _cached(path):
    """The array at `path`; None where there is none, or only part of one."""
    try:
        return np.load(path)
    except (OSError, ValueError, EOFError):
        return None


def _save(path, array):
    """Writes an array under a temporary name; a cache may fail to be kept."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            np.save(file, array)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        tqdm.write(f"could not cache the images in {path}: {error}")

"""Images: chosen, cropped, cached as uint8, and served as noisy batches."""

import concurrent.futures
import hashlib
import io
import os
import pathlib
import warnings
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from PIL import Image, ImageOps
from tqdm import tqdm

from srmcmc_tf import rng, sources, toys
from srmcmc_tf.errors import UserError


class Images(NamedTuple):
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
        `Images`.
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
    cache = cache_dir() / f"{config.dataset}-{digest}.npy"
    images = _cached(cache)
    if images is None:
        images = _read(source, n, shape, config.dataset)
        _save(cache, images)
    # Files that could not be read are missing from the observed ones.
    n_observed = len(images) - n_left_out
    _check_size(n_observed, n_left_out, config)
    return Images(images[:n_observed], images[n_observed:])


def to_float(images):
    """uint8 in [0, 255] to float32 in [-1, 1]."""
    return tf.cast(images, tf.float32) / 127.5 - 1.0


def batches(images, *, batch_size=64, sigma=0.03, seed=0, start=0, part=(0, 1)):
    """An endless `tf.data.Dataset` of noisy batches.

    Batch t is a function of (seed, t) alone: which images, in which order
    (each once an epoch, every epoch in a new order) and which noise. So a run
    that goes on at update t sees what it would have seen.

    Args:
        images: uint8 array [n, h, w, c], or float32 points [n, d], kept in
            memory.
        batch_size: images a batch.
        sigma: standard deviation of the added Gaussian noise; a number, or a
            function of the update such as a `schedule.Anneal`.
        seed: integer that names the order and the noise.
        start: number of the first batch.
        part: (i, n) for the i-th of n equal parts of each batch, for one of n
            workers; by default the whole.

    Returns:
        A dataset of float32 [batch_size / n, h, w, c], or [batch_size / n, d],
        about [-1, 1].
    """
    n = len(images)
    images = np.asarray(images)
    if images.dtype != (np.float32 if images.ndim == 2 else np.uint8):
        raise ValueError(
            "images must be uint8 in [0, 255], points float32 [n, d]"
        )
    if not 1 <= batch_size <= n:
        raise ValueError(f"batch_size={batch_size}, but there are {n} images")
    if batch_size % part[1]:
        raise ValueError(f"batch_size={batch_size}, but {part[1]} equal parts")
    rows = batch_size // part[1]
    first = part[0] * rows
    base = rng.seed_of(seed)
    with tf.device("cpu"):  # a data set may be larger than a GPU's memory
        images = tf.constant(images)

    def batch(update):
        position = tf.range(first, first + rows, dtype=tf.int64)
        position += update * batch_size
        epoch, place = position // n, position % n
        # The raw op, because index_shuffle() pads a batch of seeds wrongly.
        names = [
            tf.fill([rows], tf.cast(v, tf.int64)) for v in (seed, rng.ORDER)
        ]
        index = tf.raw_ops.RandomIndexShuffle(
            index=place,
            seed=tf.stack([*names, epoch], axis=1),
            max_index=tf.cast(n - 1, tf.int64),
        )
        x = tf.gather(images, index)
        if x.dtype == tf.uint8:
            x = to_float(x)
        draw = rng.fold(base, rng.NOISE, update)
        draw = rng.from_row(draw, first) if first else draw
        noise = rng.normal(tf.shape(x), draw)
        level = sigma(update) if callable(sigma) else sigma
        return tf.ensure_shape(x + level * noise, [rows, *images.shape[1:]])

    updates = tf.data.Dataset.range(start, np.iinfo(np.int64).max)
    return updates.map(batch, num_parallel_calls=2).prefetch(2)


def digest(images):
    """A short name for the contents of an array of images."""
    return hashlib.sha256(np.ascontiguousarray(images)).hexdigest()[:16]


def square(content, shape):
    """A file's path or bytes, or an array, as a uint8 array of `shape`."""
    size, _, channels = shape
    if isinstance(content, np.ndarray):
        image = Image.fromarray(content.squeeze())
    else:
        is_path = isinstance(content, pathlib.Path)
        image = Image.open(content if is_path else io.BytesIO(content))
    image = ImageOps.exif_transpose(image)
    image = image.convert("RGB" if channels == 3 else "L")
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    image = image.resize(
        (size, size),
        Image.Resampling.BILINEAR,  # anti-aliased wherever it shrinks
        box=(left, top, left + side, top + side),
    )
    return np.asarray(image, np.uint8).reshape(shape)


def _points(config):
    """The examples of a toy: exact draws, the same for every run."""
    if config.data_dir:
        raise UserError(f"--data_dir: {config.dataset} is drawn, not read")
    n, n_left_out = config.n_examples, config.n_left_out
    _check_size(n, n_left_out, config)
    toy = toys.get(config.dataset, config.toy)
    points = toys.draw(toy, n + n_left_out, rng.seed_of(0))
    return Images(points[:n], points[n:])


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
            return index, label, square(content, shape)
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


def cache_dir():
    """Where things that can be made or fetched again are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "srmcmc_tf"


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

"""Feeds images through a network into metrics; resumes where it stopped."""

import pathlib
import sys
import time
from collections.abc import Callable, Mapping

import keras
from tqdm import tqdm

from srmcmc_tf.evaluation import partial
from srmcmc_tf.evaluation.image_sets import ImageSet
from srmcmc_tf.scores.features.network import Network
from srmcmc_tf.scores.streaming import Streaming

# On a CPU, Inception is equally fast from batches of 8 on; 64 is also the
# number of samples drawn at once.
BATCH = 64
SAVE_SECONDS = 60


def feed(
    metrics: Mapping[str, Streaming],
    network: Network,
    images: ImageSet,
    part: pathlib.Path | None = None,
    stop: Callable[[], bool] | None = None,
) -> bool:
    """Updates metrics with all images of a set.

    Args:
        metrics: new metrics by name.
        network: computes what they sum over.
        images: the set.
        part: file of the state, saved about once a minute and resumed by the
            same request; the caller removes it.
        stop: called before every batch; ends the loop when it returns True.

    Returns:
        Whether all images were used.
    """
    request = f"{network.name} {network.digest} {images.identity} {images.n}"
    done = _restore(part, request, metrics)
    bar = tqdm(
        total=images.n,
        initial=done,
        desc=f"{images.name} {images.split}",
        unit=" images",
        delay=2,
        leave=False,
        mininterval=0.1 if sys.stderr.isatty() else 30,
    )
    saved = time.perf_counter()
    with bar:
        while done < images.n:
            if stop and stop():
                return False
            n = min(BATCH, images.n - done)
            outputs = network(images.read(done, done + n))
            for metric in metrics.values():
                used = getattr(outputs, metric.uses)
                metric.update_state(used, range(done, done + n))
            done += n
            bar.update(n)
            if part and time.perf_counter() - saved > SAVE_SECONDS:
                _save(part, request, metrics, done)
                saved = time.perf_counter()
    if part and part.exists():  # in case the caller is interrupted, too
        _save(part, request, metrics, done)
    return True


def _save(
    part: pathlib.Path,
    request: str,
    metrics: Mapping[str, Streaming],
    done: int,
) -> None:
    state = {name: v.numpy() for name, v in _variables(metrics).items()}
    partial.save(part, request, {"done": done, **state})


def _restore(
    part: pathlib.Path | None, request: str, metrics: Mapping[str, Streaming]
) -> int:
    """Restores a saved state; returns the number of images in it."""
    arrays = partial.load(part, request)
    variables = _variables(metrics)
    if arrays is None or not arrays.keys() >= variables.keys():
        return 0
    for name, variable in variables.items():
        variable.assign(arrays[name])
    return int(arrays["done"])


def _variables(metrics: Mapping[str, Streaming]) -> dict[str, keras.Variable]:
    return {
        f"{name}/{i}": variable
        for name, metric in metrics.items()
        for i, variable in enumerate(metric.variables)
    }

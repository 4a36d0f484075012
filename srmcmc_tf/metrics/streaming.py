"""Metrics whose state is a sum over samples, and the images fed to them."""

import sys
import time

import keras
import tensorflow as tf
from tqdm import tqdm

from srmcmc_tf.files import npz

# Images at once: from 8 on, Inception is equally fast on a CPU; 64 is also as
# many as samples are drawn at once.
BATCH = 64
# Between two writings of the state.
SAVE_SECONDS = 60


class Streaming(keras.metrics.Metric):
    """A metric whose every variable is a sum of one term a sample.

    So it does not depend on the order of the samples nor on how they were
    batched, up to the rounding of float64; states of replicas, or of parts
    of the data, are merged by adding them (`merge_state`; Keras does the same
    where a `tf.distribute` strategy reads a metric); and a state written to
    the disk can be gone on with.

    Where the place of a sample among all matters, `index` gives it, and the
    value is a function of the set of (index, sample) pairs. By default the
    samples are numbered as they come: then give `index` when there are
    replicas, which would number theirs alike.
    """

    uses = "features"  # or "logits": the part of `Seen` it sums over

    def __init__(self, name, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.count = self.add_sum("count", ())

    def add_sum(self, name, shape, dtype="float64"):
        """A variable of the state, zero at first."""
        return self.add_variable(shape, "zeros", dtype, "sum", name)

    def number(self, x, index):
        """The indices of a batch, int64 [n]; counts the batch."""
        n = tf.shape(x, tf.int64)[0]
        if index is None:
            index = tf.cast(self.count.value, tf.int64) + tf.range(n)
        self.count.assign_add(tf.cast(n, tf.float64))
        return tf.cast(index, tf.int64)

    def merge_state(self, metrics):
        """Adds the states of other metrics of the same kind."""
        for other in metrics:
            pairs = zip(self.variables, other.variables, strict=True)
            for mine, theirs in pairs:
                mine.assign_add(theirs.value)


def feed(metrics, network, images, part=None, stop=None):
    """Updates metrics with all images of a set; goes on where it stopped.

    Args:
        metrics: `Streaming` metrics, by name; fresh.
        network: a `Network`.
        images: an `images.ImageSet`.
        part: a file for the state, written about once a minute; the caller
            removes it. One that another request left is not used.
        stop: a function that is asked before every batch; where it says True,
            nothing more is done.

    Returns:
        Whether all images were seen.
    """
    request = f"{network.name} {network.digest} {images.identity} {images.n}"
    done = _restore(part, metrics, request)
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
            x = images.read(done, done + n)
            seen = network(x)
            for metric in metrics.values():
                part_seen = getattr(seen, metric.uses)
                metric.update_state(part_seen, range(done, done + n))
            done += n
            bar.update(n)
            if part and time.perf_counter() - saved > SAVE_SECONDS:
                _save(part, metrics, request, done)
                saved = time.perf_counter()
    if part and part.exists():  # so that what follows can fail, too
        _save(part, metrics, request, done)
    return True


def _save(part, metrics, request, done):
    state = _state(metrics)
    arrays = {name: variable.numpy() for name, variable in state.items()}
    npz.save(part, {"request": request, "done": done, **arrays})


def _restore(part, metrics, request):
    """Puts a saved state into the metrics; returns how many were done."""
    arrays = npz.load(part) if part else None
    state = _state(metrics)
    if arrays is None or not arrays.keys() >= state.keys():
        return 0
    if str(arrays["request"]) != request:
        return 0
    for name, variable in state.items():
        variable.assign(arrays[name])
    return int(arrays["done"])


def _state(metrics):
    return {
        f"{name}/{i}": variable
        for name, metric in metrics.items()
        for i, variable in enumerate(metric.variables)
    }

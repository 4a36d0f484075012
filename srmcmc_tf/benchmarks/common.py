"""What the benchmarks share: sides that take turns, a model to run."""

import statistics
import time

from srmcmc_tf import ShortRunEBM
from srmcmc_tf.models import energies


class Rounds:
    """Median seconds of each side, and of its ratio to the first one."""

    def __init__(self, seconds):
        self.seconds = [statistics.median(s) for s in seconds]
        self.over_first = [
            statistics.median(b / a for a, b in zip(seconds[0], s, strict=True))
            for s in seconds
        ]


def rounds(rounds, n, *sides):
    """Times `side(n)` for each side in turn; seconds per one of the n.

    A side that returns a number timed itself.
    """
    seconds = [[] for _ in sides]
    for side in sides:
        side(n)
    for _ in range(rounds):
        for times, side in zip(seconds, sides, strict=True):
            begin = time.perf_counter()
            own = side(n)
            if own is None:
                own = time.perf_counter() - begin
            times.append(own / n)
    return Rounds(seconds)


def model(size, channels, n_f, K):
    """A compiled model with its initial weights."""
    model = ShortRunEBM(energies.convnet(size, channels, n_f=n_f), K=K)
    model.compile()
    return model

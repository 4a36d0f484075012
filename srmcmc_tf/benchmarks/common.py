"""Shared by the benchmarks: interleaved timing, new processes, a model."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf

from srmcmc_tf.models import energies
from srmcmc_tf.models.short_run import ShortRunEBM


class Timings:
    """Median times of several sides that were measured in turns.

    Args:
        seconds: for each side, its seconds in each round.

    Attributes:
        seconds: the median of each side.
        over_first: the median ratio of each side to the first one, round by
            round: a ratio of neighbors is less noisy than one of medians.
    """

    def __init__(self, seconds: list[list[float]]) -> None:
        self.seconds = [statistics.median(side) for side in seconds]
        self.over_first = [
            statistics.median(
                own / first for first, own in zip(seconds[0], side, strict=True)
            )
            for side in seconds
        ]


def interleave(
    rounds: int, n: int, *sides: Callable[[int], float | None]
) -> Timings:
    """Times `side(n)` for each side in turn, after a first call of each.

    Args:
        rounds: how often each side is timed.
        n: the argument of a side, by which its seconds are divided.
        *sides: functions; one that returns a number has timed itself.
    """
    seconds: list[list[float]] = [[] for _ in sides]
    for side in sides:
        side(n)
    for _ in range(rounds):
        for times, side in zip(seconds, sides, strict=True):
            begin = time.perf_counter()
            own = side(n)
            if own is None:
                own = time.perf_counter() - begin
            times.append(own / n)
    return Timings(seconds)


def in_new_process(function: Callable[..., float], *args: Any) -> float:
    """Calls a module's function in a process of its own.

    The peak memory of a process never falls, so each one needs a new process.

    Args:
        function: a function of an importable module.
        *args: numbers and strings.
    """
    name = function.__name__
    code = f"from {function.__module__} import {name}; print({name}(*{args}))"
    command = [sys.executable, "-c", code]
    return float(subprocess.check_output(command, text=True))


def table(header: str, rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yields the lines of a Markdown table.

    Args:
        header: the heads of the columns, separated by " | ".
        rows: the cells of each row.
    """
    yield f"| {header} |\n" + "|---" * (header.count(" | ") + 1) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def bare_update(model: ShortRunEBM, x: tf.Tensor) -> Callable[[int], None]:
    """Returns a function that makes n updates on `x`, without `fit`."""
    step = tf.function(model.train_step)

    def repeat(n: int) -> None:
        for _ in range(n):
            step(x)["f_data"].numpy()

    return repeat


def model(size: int, channels: int, n_f: int, K: int) -> ShortRunEBM:
    """Returns a compiled model with its initial weights."""
    model = ShortRunEBM(energies.convnet(size, channels, n_f=n_f), K=K)
    model.compile()
    return model

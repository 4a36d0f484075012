"""Time of an update and of a step of the chain, and other programs' times."""

import functools
import importlib.util
import time
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from srmcmc_tf.benchmarks import common
from srmcmc_tf.data import pipeline
from srmcmc_tf.models import energies
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.sampling import rng


def fit() -> Iterator[str]:
    """`fit` and its input pipeline against the bare compiled update."""
    for sizes in ((8, 1, 64, 10), (32, 3, 16, 10)):
        yield compare_fit(*sizes)


def compare_fit(
    size: int, channels: int, n_f: int, K: int, rounds: int = 15, n: int = 12
) -> str:
    """`fit` against the bare update, for images of one size."""
    model = common.model(size, channels, n_f, K)
    images = np.zeros([1000, size, size, channels], np.uint8)
    x = tf.zeros([64, size, size, channels])
    bare = common.bare_update(model, x)
    piped = iter(pipeline.endless(images))
    bare(1)

    def in_fit(n: int) -> float:
        clock = _Clock()
        model.fit(
            pipeline.endless(images),
            steps_per_epoch=n + 1,  # the first one starts the clock
            shuffle=False,
            verbose=0,
            callbacks=[clock],
        )
        return clock.seconds

    def pipe(n: int) -> None:
        for _ in range(n):
            next(piped)

    timings = common.interleave(rounds, n, bare, in_fit, pipe)
    return (
        f"{size}x{size}x{channels}, n_f={n_f}, K={K}, batch 64: update "
        f"{timings.seconds[0] * 1e3:.1f} ms; fit / bare = "
        f"{timings.over_first[1]:.3f}; pipeline alone / bare = "
        f"{timings.over_first[2]:.3f} (it runs beside the update)"
    )


def rate() -> Iterator[str]:
    """The chain's arithmetic against the machine's matrix multiplication."""
    n_f, n = 64, 2048
    run = _chain(common.model(32, 3, n_f, 10))
    a = tf.random.stateless_normal([n, n], [1, 2])
    multiply = tf.function(lambda: tf.matmul(a, a))

    def matmul(times: int) -> None:
        for _ in range(times):
            multiply().numpy()

    timings = common.interleave(8, 10, matmul, lambda K: run(64, K))
    flop = 2 * n**3, 2 * 64 * energies.flop(32, 3, n_f)
    speeds = [f / s / 1e9 for f, s in zip(flop, timings.seconds, strict=True)]
    share = flop[1] / flop[0] / timings.over_first[1]
    yield (
        f"32x32x3, n_f={n_f}, batch 64: {speeds[1]:.0f} GFLOP/s in the "
        f"convolutions of a step, matrix product {speeds[0]:.0f} GFLOP/s: "
        f"{share:.0%}"
    )


def torch() -> Iterator[str]:
    """A step of the chain against PyTorch's, eager as in the paper."""
    if not importlib.util.find_spec("torch"):
        yield "torch is not installed here: nothing to compare with"
        return
    import torch

    for n_f in (32, 64):
        run = _chain(common.model(32, 3, n_f, 10))
        eager = _eager_chain(n_f)
        eager(1)
        ours = functools.partial(run, 64)
        timings = common.interleave(6, 5, ours, eager)
        yield (
            f"32x32x3, n_f={n_f}, batch 64: {timings.seconds[0] * 1e3:.0f} ms "
            f"a step, PyTorch {torch.__version__} "
            f"{timings.seconds[1] * 1e3:.0f} ms: {timings.over_first[1]:.2f} "
            "times ours"
        )


def scaling() -> Iterator[str]:
    """Time against K and against the batch; both should be linear."""
    run = _chain(common.model(32, 3, 16, 10))
    for batch in (16, 64, 128):
        run(batch, 1)
    Ks = (10, 20, 50, 100)
    timings = common.interleave(5, 1, *(lambda _, K=K: run(16, K) for K in Ks))
    yield from common.table("K | s a chain | over K=10", _rows(Ks, timings))
    batches = (16, 32, 64, 128)
    timings = common.interleave(
        5, 1, *(lambda _, b=b: run(b, 20) for b in batches)
    )
    yield ""
    yield from common.table(
        "batch | s a chain of 20 | over 16", _rows(batches, timings)
    )


def _rows(
    values: tuple[int, ...], timings: common.Timings
) -> Iterator[list[str]]:
    for value, s, ratio in zip(
        values, timings.seconds, timings.over_first, strict=True
    ):
        yield [f"{value}", f"{s:.3f}", f"{ratio:.2f}"]


class _Clock(keras.callbacks.Callback):
    """Times the updates of a `fit` without its start."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if batch == 0:
            self.begin = time.perf_counter()
        self.seconds = time.perf_counter() - self.begin


def _chain(model: ShortRunEBM) -> Callable[[int, int], None]:
    """Returns a function that runs `batch` chains of K steps."""
    stream = rng.stream(0)

    def run(batch: int, K: int) -> None:
        z = stream.uniform([batch, *model.image_shape])
        model.stages[0].run(z, stream, K=K).x.numpy()

    return run


def _eager_chain(n_f: int) -> Callable[[int], None]:
    """Returns a function that runs 64 chains of K steps in PyTorch."""
    import torch
    from torch import nn

    widths = [3, n_f, 2 * n_f, 4 * n_f, 8 * n_f]
    layers = [nn.Conv2d(3, n_f, 3, 1, 1), nn.LeakyReLU(0.2)]
    for inside, outside in zip(widths[1:], widths[2:], strict=False):
        layers += [nn.Conv2d(inside, outside, 4, 2, 1), nn.LeakyReLU(0.2)]
    network = nn.Sequential(*layers, nn.Conv2d(8 * n_f, 1, 4))

    def eager(K: int) -> None:
        x = torch.rand(64, 3, 32, 32) * 2 - 1
        for _ in range(K):
            x.requires_grad_(True)
            (f_prime,) = torch.autograd.grad(network(x).sum(), x)
            x = x.detach() + f_prime + 0.01 * torch.randn_like(x)

    return eager

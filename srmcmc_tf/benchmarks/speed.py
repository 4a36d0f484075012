"""Time: of an update, of a step of the chain, beside other programs."""

import importlib.util
import time

import keras
import numpy as np
import tensorflow as tf

from srmcmc_tf.benchmarks import common
from srmcmc_tf.data import pipeline
from srmcmc_tf.models import energies
from srmcmc_tf.sampling import rng


def fit():
    """`fit` and its input pipeline against the bare compiled update."""
    for size, channels, n_f, K in ((8, 1, 64, 10), (32, 3, 16, 10)):
        model = common.model(size, channels, n_f, K)
        images = np.zeros([1000, size, size, channels], np.uint8)
        x = tf.zeros([64, size, size, channels])
        step = tf.function(model.train_step)
        piped = iter(pipeline.batches(images))
        step(x)

        def bare(n, step=step, x=x):
            for _ in range(n):
                step(x)["f_data"].numpy()

        def in_fit(n, model=model, images=images):
            clock = _Clock()
            model.fit(
                pipeline.batches(images),
                steps_per_epoch=n + 1,  # the first one starts the clock
                shuffle=False,
                verbose=0,
                callbacks=[clock],
            )
            return clock.seconds

        def pipe(n, piped=piped):
            for _ in range(n):
                next(piped)

        ratios = common.rounds(15, 12, bare, in_fit, pipe)
        print(
            f"{size}x{size}x{channels}, n_f={n_f}, K={K}, batch 64: update "
            f"{ratios.seconds[0] * 1e3:.1f} ms; fit / bare = "
            f"{ratios.over_first[1]:.3f}; pipeline alone / bare = "
            f"{ratios.over_first[2]:.3f} (it runs beside the update)"
        )


def rate():
    """The chain's arithmetic against the machine's matrix multiplication."""
    n_f, n = 64, 2048
    chain = _chain(common.model(32, 3, n_f, 10))
    a = tf.random.stateless_normal([n, n], [1, 2])
    multiply = tf.function(lambda: tf.matmul(a, a))

    def matmul(times):
        for _ in range(times):
            multiply().numpy()

    ratios = common.rounds(8, 10, matmul, lambda K: chain(64, K))
    flop = 2 * n**3, 2 * 64 * energies.flop(32, 3, n_f)
    speeds = [f / s / 1e9 for f, s in zip(flop, ratios.seconds, strict=True)]
    share = flop[1] / flop[0] / ratios.over_first[1]
    print(
        f"32x32x3, n_f={n_f}, batch 64: {speeds[1]:.0f} GFLOP/s in the "
        f"convolutions of a step, matrix product {speeds[0]:.0f} GFLOP/s: "
        f"{share:.0%}"
    )


def torch():
    """A step of the chain against PyTorch's, eager as in the paper."""
    if not importlib.util.find_spec("torch"):
        print("torch is not installed here: nothing to compare with")
        return
    import torch
    from torch import nn

    for n_f in (32, 64):
        chain = _chain(common.model(32, 3, n_f, 10))
        widths = [3, n_f, 2 * n_f, 4 * n_f, 8 * n_f]
        layers = [nn.Conv2d(3, n_f, 3, 1, 1), nn.LeakyReLU(0.2)]
        for inside, outside in zip(widths[1:], widths[2:], strict=False):
            layers += [nn.Conv2d(inside, outside, 4, 2, 1), nn.LeakyReLU(0.2)]
        network = nn.Sequential(*layers, nn.Conv2d(8 * n_f, 1, 4))

        def eager(K, network=network):
            x = torch.rand(64, 3, 32, 32) * 2 - 1
            for _ in range(K):
                x.requires_grad_(True)
                (f_prime,) = torch.autograd.grad(network(x).sum(), x)
                x = x.detach() + f_prime + 0.01 * torch.randn_like(x)

        eager(1)
        ratios = common.rounds(6, 5, lambda K, chain=chain: chain(64, K), eager)
        print(
            f"32x32x3, n_f={n_f}, batch 64: {ratios.seconds[0] * 1e3:.0f} ms a "
            f"step, PyTorch {torch.__version__} "
            f"{ratios.seconds[1] * 1e3:.0f} ms: {ratios.over_first[1]:.2f} "
            "times ours"
        )


def scaling():
    """Time against K and against the batch; both should be linear."""
    chain = _chain(common.model(32, 3, 16, 10))
    for batch in (16, 64, 128):
        chain(batch, 1)
    Ks = (10, 20, 50, 100)
    ratios = common.rounds(5, 1, *(lambda _, K=K: chain(16, K) for K in Ks))
    print("| K | s a chain | over K=10 |\n|---|---|---|")
    for K, s, r in zip(Ks, ratios.seconds, ratios.over_first, strict=True):
        print(f"| {K} | {s:.3f} | {r:.2f} |")
    batches = (16, 32, 64, 128)
    ratios = common.rounds(
        5, 1, *(lambda _, b=b: chain(b, 20) for b in batches)
    )
    print("\n| batch | s a chain of 20 | over 16 |\n|---|---|---|")
    for b, s, r in zip(batches, ratios.seconds, ratios.over_first, strict=True):
        print(f"| {b} | {s:.3f} | {r:.2f} |")


class _Clock(keras.callbacks.Callback):
    """Times the updates of a `fit`, without its start."""

    def on_train_batch_end(self, batch, logs=None):
        if batch == 0:
            self.begin = time.perf_counter()
        self.seconds = time.perf_counter() - self.begin


def _chain(model):
    shape = model.energy.input_shape[1:]
    stream = rng.stream(0)

    def run(batch, K):
        z = stream.uniform([batch, *shape])
        model.run_chain(z, stream, K=K).x.numpy()

    return run

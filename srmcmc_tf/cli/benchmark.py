"""bin/benchmark: what an update costs, as ratios of interleaved runs.

Each ratio is the median over rounds in which both sides take turns, because
machines are noisy and a ratio of neighbours is less so.
"""

import importlib.util
import pathlib
import re
import statistics
import subprocess
import sys
import time

from srmcmc_tf.cli import app, flags
from srmcmc_tf.errors import UserError


def main():
    app.run("benchmark", benchmark)


def benchmark(argv):
    chosen = {s.__name__: s for s in (fit, rate, torch, scaling, memory)}
    asked, argv = flags.wants_help(argv)
    if asked:
        print(f"bin/benchmark [NAME ...]\n\n{__doc__}")
        for name, section in chosen.items():
            print(f"  {name:<8} {section.__doc__.splitlines()[0]}")
        return 0
    for name in argv:
        if name not in chosen:
            raise UserError(f"{name!r}: must be one of {', '.join(chosen)}")
    app.import_tensorflow()
    for name in argv or chosen:
        print(f"\n## {name}: {chosen[name].__doc__.splitlines()[0]}")
        chosen[name]()
    return 0


def fit():
    """`fit` and its input pipeline against the bare compiled update."""
    import numpy as np
    import tensorflow as tf

    from srmcmc_tf import data

    for size, channels, n_f, K in ((8, 1, 64, 10), (32, 3, 16, 10)):
        model = _model(size, channels, n_f, K)
        images = np.zeros([1000, size, size, channels], np.uint8)
        x = tf.zeros([64, size, size, channels])
        step = tf.function(model.train_step)
        pipeline = iter(data.batches(images))
        step(x)

        def bare(n, step=step, x=x):
            for _ in range(n):
                step(x)["f_data"].numpy()

        def in_fit(n, model=model, images=images):
            model.fit(
                data.batches(images),
                steps_per_epoch=n + 1,  # the first one starts the clock
                shuffle=False,
                verbose=0,
                callbacks=[_Clock()],
            )
            return _Clock.seconds

        def pipe(n, pipeline=pipeline):
            for _ in range(n):
                next(pipeline)

        ratios = _rounds(15, 12, bare, in_fit, pipe)
        print(
            f"{size}x{size}x{channels}, n_f={n_f}, K={K}, batch 64: update "
            f"{ratios.seconds[0] * 1e3:.1f} ms; fit / bare = "
            f"{ratios.over_first[1]:.3f}; pipeline alone / bare = "
            f"{ratios.over_first[2]:.3f} (it runs beside the update)"
        )


def rate():
    """The chain's arithmetic against the machine's matrix multiplication."""
    import tensorflow as tf

    n_f, n = 64, 2048
    chain = _chain(_model(32, 3, n_f, 10))
    a = tf.random.stateless_normal([n, n], [1, 2])
    multiply = tf.function(lambda: tf.matmul(a, a))

    def matmul(times):
        for _ in range(times):
            multiply().numpy()

    ratios = _rounds(8, 10, matmul, lambda K: chain(64, K))
    flop = 2 * n**3, 2 * _flop(32, 3, n_f, 64)
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
        chain = _chain(_model(32, 3, n_f, 10))
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
        ratios = _rounds(6, 5, lambda K, chain=chain: chain(64, K), eager)
        print(
            f"32x32x3, n_f={n_f}, batch 64: {ratios.seconds[0] * 1e3:.0f} ms a "
            f"step, PyTorch {torch.__version__} "
            f"{ratios.seconds[1] * 1e3:.0f} ms: {ratios.over_first[1]:.2f} "
            "times ours"
        )


def scaling():
    """Time against K and against the batch; both should be linear."""
    chain = _chain(_model(32, 3, 16, 10))
    for batch in (16, 64, 128):
        chain(batch, 1)
    Ks = (10, 20, 50, 100)
    ratios = _rounds(5, 1, *(lambda _, K=K: chain(16, K) for K in Ks))
    print("| K | s a chain | over K=10 |\n|---|---|---|")
    for K, s, r in zip(Ks, ratios.seconds, ratios.over_first, strict=True):
        print(f"| {K} | {s:.3f} | {r:.2f} |")
    batches = (16, 32, 64, 128)
    ratios = _rounds(5, 1, *(lambda _, b=b: chain(b, 20) for b in batches))
    print("\n| batch | s a chain of 20 | over 16 |\n|---|---|---|")
    for b, s, r in zip(batches, ratios.seconds, ratios.over_first, strict=True):
        print(f"| {b} | {s:.3f} | {r:.2f} |")


def memory():
    """Peak memory of an update against K; it should be flat."""
    print("| K | peak MB above TensorFlow's own |\n|---|---|")
    for K in (1, 10, 100, 400):
        # A new process each: a peak never falls.
        code = f"from srmcmc_tf.cli import benchmark; benchmark.peak({K})"
        peak = subprocess.check_output([sys.executable, "-c", code], text=True)
        print(f"| {K} | {float(peak):.0f} |")


class _Rounds:
    def __init__(self, seconds):
        self.seconds = [statistics.median(s) for s in seconds]
        self.over_first = [
            statistics.median(b / a for a, b in zip(seconds[0], s, strict=True))
            for s in seconds
        ]


def _rounds(rounds, n, *sides):
    """Times `side(n)` for each side in turn; seconds per one of the n."""
    seconds = [[] for _ in sides]
    for side in sides:
        side(n)
    for _ in range(rounds):
        for times, side in zip(seconds, sides, strict=True):
            begin = time.perf_counter()
            own = side(n)
            times.append((own or time.perf_counter() - begin) / n)
    return _Rounds(seconds)


def _Clock():
    """A callback that times the updates of a `fit`, without its start."""
    import keras

    class Clock(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 0:
                self.begin = time.perf_counter()
            _Clock.seconds = time.perf_counter() - self.begin

    return Clock()


def _model(size, channels, n_f, K):
    from srmcmc_tf import ShortRunEBM, energy

    model = ShortRunEBM(energy.convnet(size, channels, n_f=n_f), K=K)
    model.compile()
    model.optimizer.build(model.trainable_variables)
    return model


def _chain(model):
    from srmcmc_tf import rng

    shape = model.energy.input_shape[1:]
    seed = rng.seed_of(0)

    def run(batch, K):
        z = rng.uniform([batch, *shape], seed)
        model._run_chain(z, seed, K, model.noise).x.numpy()

    return run


def _flop(size, channels, n_f, batch):
    """Floating-point operations of the convolutions of one evaluation of f."""
    total = 0
    for layer in _model(size, channels, n_f, 1).energy.layers:
        if layer.name.startswith("conv"):
            out = layer.output.shape
            total += out[1] * out[2] * layer.kernel.shape.num_elements()
    return 2 * total * batch


def peak(K):
    """Prints by how many MB an update of K steps raises a process's peak."""
    app.import_tensorflow()
    import tensorflow as tf

    model = _model(32, 3, 16, K)
    before = _high_water()
    model.train_on_batch(tf.zeros([64, 32, 32, 3]))
    print(_high_water() - before)


def _high_water():
    """The process's peak memory in MB; getrusage would count its parent's."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024

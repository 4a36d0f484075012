"""An update's cost by the formulas of docs/scaling.md, and as it is here."""

import math
import subprocess
import sys

import tensorflow as tf

from srmcmc_tf.benchmarks import common, memory
from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.models import energies


def cost():
    """Arithmetic, memory and time by formula, and as measured."""
    _arithmetic()
    _memory()
    _time()


def _arithmetic():
    print(
        "| network | weights | GFLOP of f | profiler over formula: a step | "
        "the update's gradient |\n|---|---|---|---|---|"
    )
    for size, n_f in ((32, 32), (32, 128), (64, 64), (128, 64)):
        f = energies.convnet(size, 3, n_f=n_f)
        flop = energies.flop(size, 3, n_f)
        x = tf.TensorSpec([2, size, size, 3])
        step = _profile(lambda x, f=f: _step(f, x), x) / (2 * 2 * flop)
        both = _profile(lambda x, y, f=f: _gradient(f, x, y), x, x)
        both /= 2 * _gradient_flop(size, n_f)
        print(
            f"| {size}x{size}x3, n_f={n_f} | {f.count_params():,} | "
            f"{flop / 1e9:.3f} | {step:.3f} | {both:.3f} |"
        )


def _memory(size=32, n_f=32):
    few, many = 32, 128
    rise = (_peak(size, n_f, many) - _peak(size, n_f, few)) / (many - few)
    f = energies.convnet(size, 3, n_f=n_f)
    expected = 2 * 2 * _activations(f) * 4 / 2**20
    print(
        f"\n{size}x{size}x3, n_f={n_f}: an image more in the batch takes "
        f"{rise:.2f} MB more at the peak, by formula {expected:.2f} MB"
    )


def _time(size=32, n_f=64, batch=32):
    x = tf.zeros([batch, size, size, 3])
    sides, flop = [], []
    for K in (5, 10, 20):
        step = tf.function(common.model(size, 3, n_f, K).train_step)
        sides.append(lambda n, step=step: _repeat(step, x, n))
        flop.append(batch * _update_flop(size, n_f, K))
    ratios = common.rounds(5, 2, *sides)
    print("\n| K | s an update | GFLOP/s | over K=5 | formula |\n" + "|---" * 5)
    for K, s, f, r in zip(
        (5, 10, 20), ratios.seconds, flop, ratios.over_first, strict=True
    ):
        rate, expected = f / s / 1e9, f / flop[0]
        print(f"| {K} | {s:.2f} | {rate:.0f} | {r:.2f} | {expected:.2f} |")


def _update_flop(size, n_f, K):
    """Of an update, for an image of the data and a chain."""
    return 2 * K * energies.flop(size, 3, n_f) + _gradient_flop(size, n_f)


def _gradient_flop(size, n_f):
    """Of the weights' gradient on a pair, without what leads back to x."""
    first = 2 * size * size * 3 * 3 * 3 * n_f
    return 2 * (3 * energies.flop(size, 3, n_f) - first)


def _activations(f):
    """Numbers that the layers of a network put out for an image."""
    return sum(
        math.prod(layer.output.shape[1:])
        for layer in f.layers
        if layer.name.startswith("lrelu")
    )


def _step(f, x):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        value = f(x)
    return tape.gradient(value, x)


def _gradient(f, x, y):
    with tf.GradientTape() as tape:
        value = tf.reduce_mean(f(x)) - tf.reduce_mean(f(y))
    return tape.gradient(value, f.trainable_variables)


def _profile(function, *specs):
    """Floating-point operations of a graph, as TensorFlow's profiler counts.

    Only of what leads to the outputs: the graph of a gradient with respect to
    x holds that of the kernels, too, which is never run.
    """
    traced = tf.function(function).get_concrete_function(*specs)
    wanted = [tensor.op.name for tensor in traced.outputs]
    run = tf.compat.v1.graph_util.extract_sub_graph(
        traced.graph.as_graph_def(), wanted
    )
    return sum(compat.node_flops(traced.graph, node) for node in run.node)


def _repeat(step, x, n):
    for _ in range(n):
        step(x)["f_data"].numpy()


def _peak(size, n_f, batch):
    """Peak MB of a process that makes one update."""
    code = (
        "from srmcmc_tf.benchmarks import cost; "
        f"cost.peak({size}, {n_f}, {batch})"
    )
    command = [sys.executable, "-c", code]
    return float(subprocess.check_output(command, text=True))


def peak(size, n_f, batch):
    """Prints this process's peak memory in MB after an update."""
    x = tf.zeros([batch, size, size, 3])
    common.model(size, 3, n_f, 1).train_on_batch(x)
    print(memory.high_water())

"""The cost of an update: by the formulas of docs/scaling.md, and measured."""

import math
from collections.abc import Callable, Iterator

import keras
import tensorflow as tf

from srmcmc_tf.benchmarks import common, memory
from srmcmc_tf.models import energies


def cost() -> Iterator[str]:
    """Arithmetic, memory and time of an update."""
    yield from _arithmetic()
    yield _memory()
    yield from _time()


def _arithmetic() -> Iterator[str]:
    networks = ((32, 32), (32, 128), (64, 64), (128, 64))
    yield from common.table(
        "network | weights | GFLOP of f | profiler over formula: a step | "
        "the update's gradient",
        (_count(size, n_f) for size, n_f in networks),
    )


def _count(size: int, n_f: int) -> list[str]:
    """Returns the cells of a network's row."""
    f = energies.convnet(size, 3, n_f=n_f)
    flop = energies.flop(size, 3, n_f)
    x = tf.TensorSpec([2, size, size, 3])
    step = profile(lambda x: _step(f, x), x) / (2 * 2 * flop)
    both = profile(lambda x, y: _gradient(f, x, y), x, x) / (
        2 * _gradient_flop(size, n_f)
    )
    return [
        f"{size}x{size}x3, n_f={n_f}",
        f"{f.count_params():,}",
        f"{flop / 1e9:.3f}",
        f"{step:.3f}",
        f"{both:.3f}",
    ]


def _memory(size: int = 32, n_f: int = 32) -> str:
    few, many = (
        common.in_new_process(peak, size, n_f, batch) for batch in (32, 128)
    )
    f = energies.convnet(size, 3, n_f=n_f)
    expected = 2 * 2 * _activations(f) * 4 / 2**20
    return (
        f"\n{size}x{size}x3, n_f={n_f}: an image more in the batch takes "
        f"{(many - few) / (128 - 32):.2f} MB more at the peak, by formula "
        f"{expected:.2f} MB"
    )


def _time(size: int = 32, n_f: int = 64, batch: int = 32) -> Iterator[str]:
    x = tf.zeros([batch, size, size, 3])
    Ks = (5, 10, 20)
    sides = [common.bare_update(common.model(size, 3, n_f, K), x) for K in Ks]
    flop = [batch * _update_flop(size, n_f, K) for K in Ks]
    timings = common.interleave(5, 2, *sides)
    rows = (
        [
            f"{K}",
            f"{s:.2f}",
            f"{f / s / 1e9:.0f}",
            f"{r:.2f}",
            f"{f / flop[0]:.2f}",
        ]
        for K, s, f, r in zip(
            Ks, timings.seconds, flop, timings.over_first, strict=True
        )
    )
    yield ""
    yield from common.table(
        "K | s an update | GFLOP/s | over K=5 | formula", rows
    )


def _update_flop(size: int, n_f: int, K: int) -> float:
    """Returns the operations of an update for one image and one chain."""
    return 2 * K * energies.flop(size, 3, n_f) + _gradient_flop(size, n_f)


def _gradient_flop(size: int, n_f: int) -> float:
    """Returns those of the weights' gradient on an image and a sample.

    The first layer needs no gradient with respect to its input.
    """
    first = 2 * size * size * 3 * 3 * 3 * n_f
    return 2 * (3 * energies.flop(size, 3, n_f) - first)


def _activations(f: keras.Model) -> int:
    """Counts the outputs of all activations of a network for one image."""
    return sum(
        math.prod(layer.output.shape[1:])
        for layer in f.layers
        if layer.name.startswith("lrelu")
    )


def _step(f: keras.Model, x: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        value = f(x)
    return tape.gradient(value, x)


def _gradient(f: keras.Model, x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
    with tf.GradientTape() as tape:
        value = tf.reduce_mean(f(x)) - tf.reduce_mean(f(y))
    return tape.gradient(value, f.trainable_variables)


def profile(function: Callable[..., tf.Tensor], *specs: tf.TensorSpec) -> int:
    """Returns the operations of a graph as TensorFlow's profiler counts them.

    Only nodes that the outputs depend on are counted: the graph of a gradient
    with respect to x also holds that of the kernels, which is never run.
    """
    traced = tf.function(function).get_concrete_function(*specs)
    outputs = [tensor.op.name for tensor in traced.outputs]
    needed = tf.compat.v1.graph_util.extract_sub_graph(
        traced.graph.as_graph_def(), outputs
    )
    names = {node.name for node in needed.node}
    profiler = tf.compat.v1.profiler
    options = profiler.ProfileOptionBuilder(
        profiler.ProfileOptionBuilder.float_operation()
    )
    options = options.with_empty_output().build()
    nodes = [profiler.profile(traced.graph, cmd="scope", options=options)]
    total = 0
    while nodes:
        node = nodes.pop()
        nodes.extend(node.children)
        total += node.float_ops if node.name in names else 0
    return total


def peak(size: int, n_f: int, batch: int) -> float:
    """Returns this process's peak memory in MB after an update."""
    x = tf.zeros([batch, size, size, 3])
    common.model(size, 3, n_f, 1).train_on_batch(x)
    return memory.high_water()

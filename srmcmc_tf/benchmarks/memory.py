"""Peak memory: of an update, of the gradient through the chain."""

import pathlib
import re
import subprocess
import sys

import tensorflow as tf

from srmcmc_tf.benchmarks import common
from srmcmc_tf.sampling import chain, inversion, rng


def memory():
    """Peak memory of an update against K; it should be flat."""
    print("| K | peak MB above TensorFlow's own |\n|---|---|")
    for K in (1, 10, 100, 400):
        print(f"| {K} | {_peak('update', K):.0f} |")


def gradient():
    """The reconstruction's gradient against a naive tape over the chain."""
    print("| K | peak MB | naive | share |\n|---|---|---|---|")
    for K in (25, 100):
        ours, naive = _peak("segments", K), _peak("naive", K)
        print(f"| {K} | {ours:.0f} | {naive:.0f} | {ours / naive:.2f} |")
    ours, naive = _segments(100), _naive(100)

    def run(side):
        side().numpy()

    ratios = common.rounds(5, 1, lambda _: run(naive), lambda _: run(ours))
    difference = tf.reduce_max(tf.abs(ours() - naive()))
    print(
        f"32x32x3, n_f=32, batch 16, K=100: {ratios.over_first[1]:.2f} times "
        f"the naive time; largest difference {difference:.1e}"
    )


def _update(K):
    model = common.model(32, 3, 16, K)
    return lambda: model.train_on_batch(tf.zeros([64, 32, 32, 3]))


def _gradient(K, through_chain):
    """A function that gives the gradient by `through_chain`, compiled."""
    f = common.model(32, 3, 32, K).energy
    z = rng.stream(0).uniform([16, 32, 32, 3])

    @tf.function
    def compiled(z, K):
        return through_chain(f, z, _squares, K=K)[2]

    return lambda: compiled(z, tf.constant(K))


def _segments(K):
    return _gradient(K, inversion.through_chain)


def _naive(K):
    return _gradient(K, _through_chain_naively)


def _through_chain_naively(f, z, loss, *, K):
    """What `inversion.through_chain` is, but one tape keeps every step."""
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(z)
        x = chain.ascend(f, z, K=K)
        losses = loss(x)
    return x, losses, tape.gradient(losses, z)


def _squares(x):
    return tf.reduce_sum(tf.square(x), [1, 2, 3])


_SIDES = {"update": _update, "segments": _segments, "naive": _naive}


def _peak(side, K):
    """By how many MB a side raises the peak of a process of its own."""
    code = (
        f"from srmcmc_tf.benchmarks import memory; memory.peak('{side}', {K})"
    )
    command = [sys.executable, "-c", code]
    return float(subprocess.check_output(command, text=True))


def peak(side, K):
    """Prints by how many MB a side raises this process's peak memory."""
    run = _SIDES[side](K)
    before = high_water()
    run()
    print(high_water() - before)


def high_water():
    """The process's peak memory in MB; getrusage would count its parent's."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024

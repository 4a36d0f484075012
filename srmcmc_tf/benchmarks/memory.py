"""Peak memory: of an update, and of the gradient through the chain."""

import pathlib
import re
import time
from collections.abc import Callable, Iterator

import tensorflow as tf

from srmcmc_tf.benchmarks import common
from srmcmc_tf.sampling import chain, inversion, rng

ThroughChain = Callable[..., tuple[tf.Tensor, tf.Tensor, tf.Tensor]]


def memory() -> Iterator[str]:
    """Peak memory of an update against K; it should be flat."""
    yield from common.table(
        "K | peak MB above TensorFlow's own",
        ([f"{K}", f"{_peak('update', K):.0f}"] for K in (1, 10, 100, 400)),
    )


def gradient() -> Iterator[str]:
    """The reconstruction's gradient against a naive tape over the chain."""
    yield from common.table(
        "K | peak MB | naive | share", (_compare(K) for K in (25, 100))
    )
    ours, naive = _segments(100), _naive(100)
    timings = common.interleave(
        5, 1, lambda _: _wait(naive), lambda _: _wait(ours)
    )
    difference = tf.reduce_max(tf.abs(ours() - naive()))
    yield (
        f"32x32x3, n_f=32, batch 16, K=100: {timings.over_first[1]:.2f} times "
        f"the naive time; largest difference {difference:.1e}"
    )
    yield compare_shortcut(100)


def compare_shortcut(K: int, rounds: int = 5) -> str:
    """The general code against the one for piecewise linear networks."""
    shortcut, general = _shortcut(K), _segments(K)
    timings = common.interleave(rounds, 1, _cpu(shortcut), _cpu(general))
    difference = tf.reduce_max(tf.abs(shortcut() - general()))
    return (
        "as the network is piecewise linear, its gradient takes "
        f"{timings.seconds[0]:.2f} s of CPU time; the general code takes "
        f"{timings.over_first[1]:.2f} times that; largest difference "
        f"{difference:.1e}"
    )


def _compare(K: int) -> list[str]:
    ours, naive = _peak("segments", K), _peak("naive", K)
    return [f"{K}", f"{ours:.0f}", f"{naive:.0f}", f"{ours / naive:.2f}"]


def _wait(side: Callable[[], tf.Tensor]) -> None:
    side().numpy()


def _cpu(side: Callable[[], tf.Tensor]) -> Callable[[int], float]:
    """Times a side by the CPU: free of what else the machine does."""

    def timed(_: int) -> float:
        begin = time.process_time()
        _wait(side)
        return time.process_time() - begin

    return timed


def _update(K: int) -> Callable[[], tf.Tensor]:
    model = common.model(32, 3, 16, K)
    return lambda: model.train_on_batch(tf.zeros([64, 32, 32, 3]))


def _gradient(
    K: int, through_chain: ThroughChain, *, known: bool = False
) -> Callable[[], tf.Tensor]:
    """Returns a function that computes the gradient by `through_chain`.

    Args:
        K: steps.
        through_chain: as of `inversion`.
        known: whether it sees that f is a piecewise linear network, not just
            any function.
    """
    energy = common.model(32, 3, 32, K).energy
    f = energy if known else lambda x: energy(x)
    z = rng.stream(0).uniform([16, 32, 32, 3])

    @tf.function
    def compiled(z: tf.Tensor, K: tf.Tensor) -> tf.Tensor:
        return through_chain(f, z, _squares, K=K)[2]

    return lambda: compiled(z, tf.constant(K))


def _segments(K: int) -> Callable[[], tf.Tensor]:
    return _gradient(K, inversion.through_chain)


def _shortcut(K: int) -> Callable[[], tf.Tensor]:
    return _gradient(K, inversion.through_chain, known=True)


def _naive(K: int) -> Callable[[], tf.Tensor]:
    return _gradient(K, through_chain_naively)


def through_chain_naively(
    f: chain.Energy,
    z: tf.Tensor,
    loss: Callable[[tf.Tensor], tf.Tensor],
    *,
    K: tf.Tensor,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """`inversion.through_chain` with a single tape that keeps every step."""
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(z)
        x = chain.ascend(f, z, K=K)
        losses = loss(x)
    return x, losses, tape.gradient(losses, z)


def _squares(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.square(x), [1, 2, 3])


_SIDES = {"update": _update, "segments": _segments, "naive": _naive}


def _peak(side: str, K: int) -> float:
    return common.in_new_process(rise, side, K)


def rise(side: str, K: int) -> float:
    """Returns by how many MB a side raises this process's peak memory."""
    run = _SIDES[side](K)
    before = high_water()
    run()
    return high_water() - before


def high_water() -> float:
    """Returns the process's peak memory in MB.

    `getrusage` would include the peak of the parent process.
    """
    status = pathlib.Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    if not found:
        raise OSError("no VmHWM in /proc/self/status")
    return int(found.group(1)) / 1024

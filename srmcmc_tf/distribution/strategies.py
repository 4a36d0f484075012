"""Strategies for many devices and workers, which give the same results.

A strategy is created from `--strategy`; `replicas` holds what runs inside one.
Only the chief reads and writes the run directory; the other workers receive
their state from it.
"""

import contextlib
import functools
import json
import logging
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.distribution import cluster, replicas
from srmcmc_tf.distribution.cluster import Cluster
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import digests

logger = logging.getLogger(__name__)

# Seconds without a sign of life after which a worker is given up. A process
# that ended is noticed at once.
_HEARTBEAT_TIMEOUT = 60

# What TensorFlow raises on the others when a worker dies, leaves or hangs.
_LOST = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.InternalError,
    tf.errors.UnavailableError,
)


def create(choice: str, batch_size: int) -> tf.distribute.Strategy:
    """The strategy of a `--strategy`; waits until all workers are up.

    Call it before TensorFlow computes anything.

    Args:
        choice: "one", "mirrored", "multi_worker", or "auto": multi_worker if
            TF_CONFIG is set, mirrored if there is more than one device, else
            one.
        batch_size: of all replicas together.
    """
    workers = cluster.from_environment(choice)
    if workers:
        cluster.wait_for_workers(workers)
        # All are up by now: if one does not connect soon, it never will.
        with _deadline("the workers of TF_CONFIG do not connect"):
            compat.set_heartbeat_timeout(_HEARTBEAT_TIMEOUT)
            strategy = tf.distribute.MultiWorkerMirroredStrategy()
            wait(strategy)
    else:
        strategy = local(choice)
    n = strategy.num_replicas_in_sync
    if batch_size % n:
        nearest = max(round(batch_size / n), 1) * n
        raise UserError(
            f"--batch_size={batch_size} is that of all {n} replicas together "
            f"and must be divisible by {n}, such as {nearest}"
        )
    return strategy


def local(choice: str = "auto") -> tf.distribute.Strategy:
    """The strategy for the devices of this machine alone."""
    devices = tf.config.list_logical_devices("GPU")
    # There are several CPUs only if somebody configured them, as tests do.
    devices = devices or tf.config.list_logical_devices("CPU")
    if choice == "one" or len(devices) == 1:
        return tf.distribute.get_strategy()
    return tf.distribute.MirroredStrategy([d.name for d in devices])


def dataset(
    strategy: tf.distribute.Strategy,
    make: Callable[[tuple[int, int]], tf.data.Dataset],
    batch_size: int,
) -> Any:
    """The batches of a run: each replica gets its rows of the global batch.

    Args:
        strategy: a `tf.distribute.Strategy`.
        make: part (i, n) to a dataset of the i-th n-th of every batch.
        batch_size: of all replicas together.

    Returns:
        What `fit` takes.
    """
    n = strategy.num_replicas_in_sync
    if n == 1:
        return make((0, 1))

    def of_worker(worker: tf.distribute.InputContext) -> tf.data.Dataset:
        part = worker.input_pipeline_id, worker.num_input_pipelines
        return make(part).rebatch(batch_size // n, drop_remainder=True)

    return strategy.distribute_datasets_from_function(of_worker)


def maximum_over_workers(strategy: tf.distribute.Strategy, number: int) -> int:
    """The largest of all workers' numbers; each waits for the others."""
    return max(_gather(strategy, [number]))


def wait(strategy: tf.distribute.Strategy) -> None:
    """Waits until all workers have called this."""
    _gather(strategy, [0])


def require_same(strategy: tf.distribute.Strategy, text: str) -> None:
    """Raises `UserError` if a text is not the same on all workers."""
    digest = int(digests.of_text(text, 8), 16)
    if len(set(_gather(strategy, [digest]))) > 1:
        raise UserError(
            "the workers have different settings or images: run the same "
            "command on every worker (with all its flags again, if --workdir "
            "is not a directory that all share)"
        )


def share_state(model: Any) -> None:
    """Copies the chief's state, all that a checkpoint holds, to all workers.

    Call it in the strategy's scope.

    Args:
        model: a `models.generator.Generator`.
    """
    strategy = model.distribute_strategy
    if not replicas.is_multi_worker(strategy):
        return
    items = model.checkpoint_items().values()
    variables = [variable for item in items for variable in item.variables]

    @tf.function
    def of_first() -> list[Any]:
        return strategy.run(
            lambda: [replicas.value_of_first(v) for v in variables]
        )

    for variable, value in zip(variables, of_first(), strict=True):
        variable.assign(strategy.experimental_local_results(value)[0])


def broadcast_from_chief(strategy: tf.distribute.Strategy, value: Any) -> Any:
    """The chief's value, which must be serializable as JSON, on all workers."""
    if not replicas.is_multi_worker(strategy):
        return value
    content = list(json.dumps(value).encode())
    length = _gather(strategy, [len(content)])[0]
    return json.loads(bytes(_gather(strategy, content)[:length]))


@contextlib.contextmanager
def report_lost_workers(workers: Cluster | None) -> Iterator[None]:
    """Turns the loss of another worker into a `UserError`."""
    try:
        yield
    except _LOST as error:
        if workers is None:
            raise
        raise UserError(
            "another worker ended or stopped responding "
            f"({type(error).__name__}); see its own output for the reason. "
            "Restart all workers: the run resumes from its newest checkpoint"
        ) from None


def _gather(strategy: tf.distribute.Strategy, numbers: list[int]) -> list[int]:
    """The workers' lists of numbers, joined; the chief's is the first."""
    if not replicas.is_multi_worker(strategy):
        return numbers
    values = strategy.experimental_distribute_values_from_function(
        lambda _: tf.constant(numbers, tf.int64)
    )
    return _compiled_gather(strategy)(values).numpy().tolist()


@functools.cache
def _compiled_gather(strategy: tf.distribute.Strategy) -> Callable[..., Any]:
    # Compiled: otherwise TensorFlow takes half a second each time.
    return tf.function(lambda values: strategy.gather(values, axis=0))


@contextlib.contextmanager
def _deadline(message: str) -> Iterator[None]:
    """Ends the process if TensorFlow waits for too long, as it may do."""

    def end() -> None:
        logger.error("error: %s within %.0f s", message, cluster.PATIENCE)
        os._exit(1)  # an exception would not end TensorFlow's wait

    timer = threading.Timer(cluster.PATIENCE, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()

"""What runs inside a replica: its rows of the global batch, and sums.

R replicas take m / R rows each of the global batch of m, with its data, starts
and noise, and sum their gradients. So a strategy changes the rounding of an
update and nothing else.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from srmcmc_tf.sampling import rng


def own_rows(stream: rng.Stream, n: tf.Tensor) -> rng.AnyStream:
    """In a replica, the stream of its `n` rows of the global batch."""
    replica = tf.distribute.get_replica_context()
    if replica.num_replicas_in_sync == 1:
        return stream
    return stream.from_row(replica.replica_id_in_sync_group * n)


def total(gradient: list[tf.Tensor]) -> list[tf.Tensor]:
    """In a replica, the gradient summed over all of them."""
    replica = tf.distribute.get_replica_context()
    if replica.num_replicas_in_sync == 1:
        return gradient
    return replica.all_reduce("SUM", gradient)


def logs(values: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """In a replica, numbers in the shape that `fit` averages over replicas."""
    if is_multi_worker(tf.distribute.get_strategy()):
        return {name: tf.reshape(v, [1]) for name, v in values.items()}
    return values


def value_of_first(variable: Any) -> tf.Tensor:
    """In each replica, the value of the first one's variable, bit for bit."""
    value = tf.convert_to_tensor(variable)
    replica = tf.distribute.get_replica_context()
    first = tf.equal(replica.replica_id_in_sync_group, 0)
    # -0.0, for x + 0.0 would turn -0.0 into 0.0.
    nothing = -tf.zeros_like(value)
    return replica.all_reduce("SUM", tf.where(first, value, nothing))


def share_rows(
    strategy: tf.distribute.Strategy, function: Callable[..., Any]
) -> Callable[..., Any]:
    """`function` of a batch, its rows divided among the local devices.

    Args:
        strategy: a `tf.distribute.Strategy`.
        function: (rows, *others) to tensors [n, ...] or None, where `rows` is
            a structure of tensors [n, ...] whose rows are independent.

    Returns:
        A function with the same arguments and results.
    """
    if strategy.num_replicas_in_sync == 1:
        return function
    devices = len(strategy.extended.worker_devices)

    @tf.function(reduce_retracing=True)
    def shared(rows: Any, *others: Any) -> Any:
        n = tf.shape(tf.nest.flatten(rows)[0])[0]
        each = -(-n // devices)

        def part() -> Any:
            replica = tf.distribute.get_replica_context()
            device = replica.replica_id_in_sync_group % devices
            # Repeats the last row if there are not enough rows.
            mine = tf.minimum(device * each + tf.range(each), n - 1)
            own = tf.nest.map_structure(lambda r: tf.gather(r, mine), rows)
            return function(own, *others)

        parts = strategy.experimental_local_results(strategy.run(part))
        return tf.nest.map_structure(
            lambda *x: None if x[0] is None else tf.concat(x, axis=0)[:n],
            *parts,
        )

    return shared


def is_multi_worker(strategy: tf.distribute.Strategy) -> bool:
    """Whether the replicas belong to more than one process."""
    return isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)

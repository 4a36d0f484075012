"""What runs inside a replica: its rows of the global batch, and sums.

R replicas take m / R rows each of the global batch of m, with its data, starts
and noise, and sum their gradients. So a strategy changes the rounding of an
update and nothing else. The last batch of a dataset may be divided unevenly;
a replica may even get no row of it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from srmcmc_tf.sampling import rng


class Rows(NamedTuple):
    """The rows of the global batch that a replica has.

    Attributes:
        first: the number of its first row, an integer scalar.
        n: how many it has.
        total: how many all replicas have together.
        present: how many it computes with: one if it has none.
        even: whether all have equally many, as is known without a message.
    """

    first: Any
    n: Any
    total: Any
    present: Any
    even: bool

    def stream(self, stream: rng.Stream) -> rng.AnyStream:
        """The stream of these rows, from that of the global batch."""
        if _context().num_replicas_in_sync == 1:
            return stream
        return stream.from_row(self.first)

    def share(self, loss: tf.Tensor) -> tf.Tensor:
        """A mean over these rows as a term of that over all rows."""
        n, total = (tf.cast(v, tf.float32) for v in (self.n, self.total))
        return loss / (total / n)

    def logs(self, values: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        """Means over these rows such that `fit` gets those over all rows.

        `fit` takes the mean of the replicas.
        """
        if not self.even:
            own = tf.cast(self.n, tf.float32)
            sums = _context().all_reduce(
                "SUM", tf.stack([own * value for value in values.values()])
            )
            means = tf.unstack(sums / tf.cast(self.total, tf.float32))
            values = dict(zip(values, means, strict=True))
        if is_multi_worker(tf.distribute.get_strategy()):
            return {name: tf.reshape(v, [1]) for name, v in values.items()}
        return values


def own_rows(batch: Any) -> tuple[Any, Rows]:
    """In a replica, its part of a batch, and which rows these are.

    Args:
        batch: a tensor [n, ...], or several of them such as images and labels;
            n may be 0 if there is more than one replica.

    Returns:
        `batch`, or a single row of zeros where there is none, whose share of
        all means is 0; and the `Rows`.
    """
    replica = _context()
    R, i = replica.num_replicas_in_sync, replica.replica_id_in_sync_group
    x = tf.nest.flatten(batch)[0]
    n = x.shape[0]
    if R == 1:
        n = tf.shape(x)[0] if n is None else n
        return batch, Rows(0, n, n, n, True)
    if n is not None:  # the same on all replicas, as it is in the graph
        return batch, Rows(i * n, n, R * n, n, True)
    n = tf.shape(x)[0]
    each = replica.all_reduce("SUM", n * tf.one_hot(i, R, dtype=tf.int32))
    empty = tf.cast(tf.equal(n, 0), tf.int32)
    batch = tf.nest.map_structure(
        lambda x: tf.pad(x, [[0, empty], *[[0, 0]] * (x.shape.rank - 1)]),
        batch,
    )
    first = tf.reduce_sum(each[:i])
    return batch, Rows(first, n, tf.reduce_sum(each), n + empty, False)


def total(gradient: list[tf.Tensor | None]) -> list[tf.Tensor | None]:
    """In a replica, the gradient summed over all of them."""
    replica = _context()
    if replica.num_replicas_in_sync == 1:
        return gradient
    sums = iter(
        replica.all_reduce("SUM", [g for g in gradient if g is not None])
    )
    return [None if g is None else next(sums) for g in gradient]


def value_of_first(variable: Any) -> tf.Tensor:
    """In each replica, the value of the first one's variable, bit for bit."""
    value = tf.convert_to_tensor(variable)
    replica = _context()
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


def _context() -> Any:
    return tf.distribute.get_replica_context()

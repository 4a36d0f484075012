"""Many devices and workers: where a run computes, with the same results.

R replicas take m / R rows each of the global batch of m, with its data, starts
and noise (`rng.from_row`), and sum their gradients. So a strategy changes the
rounding of an update and nothing else. Only the chief reads and writes the run
directory; the other workers have their state from it.
"""

import contextlib
import functools
import hashlib
import json
import os
import sys
import threading

import tensorflow as tf
from tensorflow.python.eager import context  # there is no public way

from srmcmc_tf.distribution import cluster
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import checkpoints
from srmcmc_tf.sampling import rng

# What TensorFlow raises on the others when a worker dies, leaves or hangs.
_LOST = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.InternalError,
    tf.errors.UnavailableError,
)


def create(choice, batch_size):
    """The strategy of a `--strategy`; waits until all workers are there.

    Call it before TensorFlow computes anything.

    Args:
        choice: "one", "mirrored", "multi_worker", or "auto": multi_worker
            where TF_CONFIG is set, mirrored where there is more than one
            device, else one.
        batch_size: of all replicas together.

    Returns:
        A `tf.distribute.Strategy`.
    """
    team = cluster.of(choice)
    if team:
        cluster.meet(team)
        # All answer by now: what does not connect soon never will.
        with _deadline("the workers of TF_CONFIG do not connect"):
            _be_patient()
            strategy = tf.distribute.MultiWorkerMirroredStrategy()
            largest(strategy, 0)
    else:
        strategy = local(choice)
    replicas = strategy.num_replicas_in_sync
    if batch_size % replicas:
        nearest = max(round(batch_size / replicas), 1) * replicas
        raise UserError(
            f"--batch_size={batch_size} is that of all {replicas} replicas "
            f"together and must divide by {replicas}, as {nearest} does"
        )
    return strategy


def local(choice="auto"):
    """The strategy for the devices of this machine alone."""
    devices = tf.config.list_logical_devices("GPU")
    # There are several CPUs only where somebody made them, as our tests do.
    devices = devices or tf.config.list_logical_devices("CPU")
    if choice == "one" or len(devices) == 1:
        return tf.distribute.get_strategy()
    return tf.distribute.MirroredStrategy([d.name for d in devices])


def dataset(strategy, make, batch_size):
    """The batches of a run, each replica's its rows of the global batch.

    Args:
        strategy: a `tf.distribute.Strategy`.
        make: part (i, n) to a dataset of the i-th n-th of every batch.
        batch_size: of all replicas together.

    Returns:
        What `fit` takes.
    """
    replicas = strategy.num_replicas_in_sync
    if replicas == 1:
        return make((0, 1))

    def of_worker(worker):
        part = worker.input_pipeline_id, worker.num_input_pipelines
        return make(part).rebatch(batch_size // replicas, drop_remainder=True)

    return strategy.distribute_datasets_from_function(of_worker)


def share_rows(strategy, function):
    """`function` of a batch, its rows divided among the local devices.

    Args:
        strategy: a `tf.distribute.Strategy`.
        function: (rows, *others) to tensors [n, ...] or None, where `rows`
            are tensors [n, ...] whose rows do not depend on each other.

    Returns:
        A function that gives the same.
    """
    if strategy.num_replicas_in_sync == 1:
        return function
    devices = len(strategy.extended.worker_devices)

    @tf.function(reduce_retracing=True)
    def shared(rows, *others):
        n = tf.shape(rows[0])[0]
        each = -(-n // devices)

        def part():
            replica = tf.distribute.get_replica_context()
            device = replica.replica_id_in_sync_group % devices
            # The last row again and again where there are not enough.
            mine = tf.minimum(device * each + tf.range(each), n - 1)
            return function([tf.gather(r, mine) for r in rows], *others)

        parts = strategy.experimental_local_results(strategy.run(part))
        return tf.nest.map_structure(
            lambda *x: None if x[0] is None else tf.concat(x, axis=0)[:n],
            *parts,
        )

    return shared


def largest(strategy, number):
    """The largest of all workers' numbers; each waits for the others."""
    return max(_gather(strategy, [number]))


def require_same(strategy, text):
    """`UserError` where a text is not the same on all workers."""
    digest = hashlib.sha256(text.encode()).digest()[:4]
    if len(set(_gather(strategy, [int.from_bytes(digest, "little")]))) > 1:
        raise UserError(
            "the workers have different settings or images: give the same "
            "command on every worker (with all its flags again, where "
            "--workdir is not a directory that all share)"
        )


def share_state(model):
    """Gives all workers the state of the chief, all that checkpoints hold.

    Call it in the strategy's scope.
    """
    strategy = model.distribute_strategy
    if not _many_workers(strategy):
        return
    items = checkpoints.items(model).values()
    variables = [variable for item in items for variable in item.variables]

    @tf.function
    def of_first():
        return strategy.run(lambda: [_of_first(v) for v in variables])

    for variable, value in zip(variables, of_first(), strict=True):
        variable.assign(strategy.experimental_local_results(value)[0])


def of_chief(strategy, value):
    """The chief's value, which JSON must hold, on all workers."""
    if not _many_workers(strategy):
        return value
    content = list(json.dumps(value).encode())
    length = _gather(strategy, [len(content)])[0]
    return json.loads(bytes(_gather(strategy, content)[:length]))


def own_rows(seed, n):
    """In a replica, the seed of its `n` rows of the global batch's draws."""
    replica = tf.distribute.get_replica_context()
    if replica.num_replicas_in_sync == 1:
        return seed
    return rng.from_row(seed, replica.replica_id_in_sync_group * n)


def total(gradient):
    """In a replica, the gradient summed over all of them."""
    replica = tf.distribute.get_replica_context()
    if replica.num_replicas_in_sync == 1:
        return gradient
    return replica.all_reduce("SUM", gradient)


def expect_sums(strategy, optimizer):
    """Tells an optimizer that its gradients come summed over replicas.

    Keras would sum them itself, but keeps the sum, whose norm is logged.
    """
    if strategy.num_replicas_in_sync > 1:
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        assert hasattr(optimizer, "_all_reduce_sum_gradients")  # Keras's own
        optimizer._all_reduce_sum_gradients = lambda pairs: pairs


def logs(values):
    """In a replica, numbers in the shape that `fit` averages over replicas."""
    if _many_workers(tf.distribute.get_strategy()):
        return {name: tf.reshape(v, [1]) for name, v in values.items()}
    return values


@contextlib.contextmanager
def told(team):
    """Turns the loss of another worker into a `UserError`."""
    try:
        yield
    except _LOST as error:
        if team is None:
            raise
        raise UserError(
            "another worker ended or does not answer any more "
            f"({type(error).__name__}); its own output tells why. Start all "
            "workers again: the run goes on from its newest checkpoint"
        ) from None


def _be_patient():
    """Gives up a worker after a minute without a sign, not after 10 s.

    A busy machine may need that long; a process that ended is noticed at once.
    """
    service = context.context()
    service.configure_coordination_service = functools.partial(
        service.configure_coordination_service, heartbeat_timeout_in_ms=60_000
    )


def _many_workers(strategy):
    return isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)


def _gather(strategy, numbers):
    """The workers' lists of numbers, joined; the chief's is the first."""
    if not _many_workers(strategy):
        return numbers
    values = strategy.experimental_distribute_values_from_function(
        lambda _: tf.constant(numbers, tf.int64)
    )
    return _gathering(strategy)(values).numpy().tolist()


@functools.cache
def _gathering(strategy):
    # Compiled: otherwise TensorFlow takes half a second each time.
    return tf.function(lambda values: strategy.gather(values, axis=0))


def _of_first(variable):
    """In each replica, the value of the first one's, bit for bit."""
    value = tf.convert_to_tensor(variable)
    replica = tf.distribute.get_replica_context()
    first = tf.equal(replica.replica_id_in_sync_group, 0)
    # -0.0, for x + 0.0 would turn -0.0 into 0.0.
    nothing = -tf.zeros_like(value)
    return replica.all_reduce("SUM", tf.where(first, value, nothing))


@contextlib.contextmanager
def _deadline(message):
    """Ends the process where TensorFlow waits for too long, as it may do."""

    def end():
        seconds = f"within {cluster.PATIENCE:.0f} s"
        print(f"error: {message} {seconds}", file=sys.stderr, flush=True)
        os._exit(1)

    timer = threading.Timer(cluster.PATIENCE, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()

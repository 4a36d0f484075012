import tensorflow as tf

from srmcmc_tf.distribution import replicas
from srmcmc_tf.sampling import rng


def test_a_single_replica_owns_all_rows_and_the_whole_sum():
    stream, gradient = rng.stream(3), [tf.constant([1.0, 2.0])]
    x, rows = replicas.own_rows(tf.zeros([8, 2]))
    assert rows.stream(stream) is stream and rows.n == rows.total == 8
    assert replicas.total(gradient) is gradient
    values = {"f": tf.constant(1.0)}
    assert rows.logs(values) is values


def test_one_device_shares_nothing():
    strategy = tf.distribute.get_strategy()
    assert replicas.share_rows(strategy, abs) is abs
    assert not replicas.is_multi_worker(strategy)

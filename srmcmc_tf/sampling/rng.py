"""Random numbers without a generator: each is a pure function of its seed.

A seed is an int32 tensor of shape [2]. `fold` mixes integers into it, so that
(seed, update, purpose, k) names a draw and nothing is kept between two of them.
Seeds of shape [n, 2] give each row of a batch its own stream. A seed of shape
[3], made by `from_row`, draws some rows of a batch without the others.
"""

import tensorflow as tf

# Purposes, always folded in first: draws for different ends share no stream.
# START and CHAIN are of a sample, TRAIN and TEST of the chains of a batch,
# BRANCH is of a run that the guard took back.
START, CHAIN, TRAIN, TEST, ORDER, NOISE, TOY, BRANCH = range(8)

_PHILOX = 1  # TensorFlow's number for this generator


def seed_of(number):
    """The seed of an integer, or the seeds [n, 2] of integers [n]."""
    number = tf.cast(number, tf.int64)
    return tf.bitcast(number, tf.int32)


def seeds_of(numbers):
    """The seeds [n, 2] of a list of integers, and of nothing else."""
    seeds = seed_of(numbers)
    if seeds.shape.rank != 2 or seeds.shape[0] == 0:
        raise ValueError("seeds must be a list of integers, as range(64)")
    return seeds


def from_row(seed, row):
    """The seed [3] whose draws are those of `seed` [2] from a row on.

    So each replica draws its rows of the global batch, and all together draw
    what one device would have drawn.
    """
    return tf.concat([seed, [tf.cast(row, tf.int32)]], axis=0)


def fold(seed, *values):
    """Mixes integers into a seed [2] or [3], or into each row of [n, 2]."""
    if seed.shape.rank == 2:
        values = [tf.cast(value, tf.int32) for value in values]
        return _compiled(_fold_rows)(seed, values)
    if seed.shape == [3]:
        return from_row(fold(seed[:2], *values), seed[2])
    for value in values:
        seed = tf.random.fold_in(seed, tf.cast(value, tf.int32), alg="philox")
    return seed


def uniform(shape, seed):
    """Uniform in [-1, 1), float32."""
    if seed.shape == [3]:
        op = tf.raw_ops.StatelessRandomUniformV2
        return 2.0 * _draw_from_row(op, shape, seed) - 1.0
    return _draw(tf.random.stateless_uniform, shape, seed, minval=-1.0)


def normal(shape, seed):
    """Standard normal, float32."""
    if seed.shape == [3]:
        op = tf.raw_ops.StatelessRandomNormalV2
        return _draw_from_row(op, shape, seed)
    return _draw(tf.random.stateless_normal, shape, seed)


def integer(seed, high):
    """Uniform in 0 to `high` - 1, an int32 scalar."""
    return tf.random.stateless_uniform(
        [], seed, 0, high, tf.int32, alg="philox"
    )


def _draw(draw, shape, seed, **kwargs):
    if seed.shape.rank == 1:
        return draw(shape, seed, alg="philox", **kwargs)
    return _compiled(_draw_rows)(draw, shape[1:], seed, **kwargs)


def _compiled(function):
    """Outside a graph 64 rows take a second; inside, a graph of its own would
    hide their shape."""
    return function if tf.executing_eagerly() else function.python_function


@tf.function(reduce_retracing=True)
def _fold_rows(seeds, values):
    return tf.map_fn(lambda row: fold(row, *values), seeds)


@tf.function(reduce_retracing=True)
def _draw_rows(draw, shape, seeds, **kwargs):
    return tf.map_fn(
        lambda row: draw(shape, row, alg="philox", **kwargs),
        seeds,
        fn_output_signature=tf.float32,
    )


def _draw_from_row(op, shape, seed):
    """Skips what `op` would have drawn for the rows before."""
    key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed[:2])
    shape = tf.cast(shape, tf.int64)
    n = tf.reduce_prod(shape)
    before = tf.cast(seed[2], tf.int64) * tf.reduce_prod(shape[1:])
    # Philox counts blocks of four numbers.
    counter = tf.bitcast(counter, tf.int64) + tf.stack([before // 4, 0])
    counter = tf.bitcast(counter, tf.uint64)
    draws = op(shape=[n + 3], key=key, counter=counter, alg=_PHILOX)
    return tf.reshape(tf.slice(draws, [before % 4], [n]), shape)

"""Random numbers without a generator: each is a pure function of its seed.

A stream is named by a seed and by integers folded into it, such as (seed,
update, purpose, step), so nothing is kept between two draws. There are three:

- `Stream` draws a whole batch: `stream(number)`;
- `StreamFromRow` draws the rows of that batch from one on, without those
  before: `Stream.from_row(row)`;
- `StreamPerRow` draws each row of a batch from a stream of its own, so that a
  row does not depend on those beside it: `stream_per_row(numbers)`.

All have `fold`, `uniform` and `normal`. They are tuples of tensors, so they
can be arguments of a `tf.function`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from srmcmc_tf.compat import tensorflow as compat

# Purposes, always folded in first: draws for different ends share no stream.
# START and CHAIN are of a sample, TRAIN and TEST of the chains of a batch,
# BRANCH is of a run that the guard rolled back, LAYERS of layers such as
# Dropout, STAGE of a stage after the first, FLIP of images that are mirrored,
# BANK of persistent chains.
START, CHAIN, TRAIN, TEST, ORDER, NOISE, TOY, BRANCH, LAYERS = range(9)
STAGE, FLIP, BANK = 9, 10, 11

_PHILOX = 1  # TensorFlow's number for this generator

Shape = Any  # a list of integers, or an integer tensor [rank]


class Stream(NamedTuple):
    """One stream for a whole batch.

    Attributes:
        seed: int32 [2].
    """

    seed: tf.Tensor

    def fold(self, *values: Any) -> "Stream":
        """The stream that integers, or integer scalars, name within it."""
        return Stream(_fold(self.seed, values))

    def from_row(self, row: Any) -> "StreamFromRow":
        """The same draws from a row on.

        So each replica draws its rows of the global batch, and all together
        draw what one device would have drawn.
        """
        return StreamFromRow(self.seed, tf.cast(row, tf.int32))

    def uniform(self, shape: Shape) -> tf.Tensor:
        """Uniform in [-1, 1), float32."""
        return _uniform(shape, self.seed)

    def normal(self, shape: Shape) -> tf.Tensor:
        """Standard normal, float32."""
        return _normal(shape, self.seed)

    def integer(self, high: int) -> tf.Tensor:
        """Uniform in 0 to `high` - 1, an int32 scalar."""
        return tf.random.stateless_uniform(
            [], self.seed, 0, high, tf.int32, alg="philox"
        )


class StreamFromRow(NamedTuple):
    """A `Stream` without the rows of the batch before a given one.

    Attributes:
        seed: int32 [2].
        row: int32 scalar, the first row that is drawn.
    """

    seed: tf.Tensor
    row: tf.Tensor

    def fold(self, *values: Any) -> "StreamFromRow":
        """The stream that integers, or integer scalars, name within it."""
        return StreamFromRow(_fold(self.seed, values), self.row)

    def uniform(self, shape: Shape) -> tf.Tensor:
        """Uniform in [-1, 1), float32."""
        return 2.0 * self._draw(tf.raw_ops.StatelessRandomUniformV2, shape) - 1

    def normal(self, shape: Shape) -> tf.Tensor:
        """Standard normal, float32."""
        return self._draw(tf.raw_ops.StatelessRandomNormalV2, shape)

    def _draw(self, op: Callable[..., tf.Tensor], shape: Shape) -> tf.Tensor:
        """Skips what `op` would have drawn for the rows before."""
        key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=self.seed)
        shape = tf.cast(shape, tf.int64)
        n = tf.reduce_prod(shape)
        before = tf.cast(self.row, tf.int64) * tf.reduce_prod(shape[1:])
        # Philox counts blocks of four numbers.
        counter = tf.bitcast(counter, tf.int64) + tf.stack([before // 4, 0])
        counter = tf.bitcast(counter, tf.uint64)
        draws = op(shape=[n + 3], key=key, counter=counter, alg=_PHILOX)
        return tf.reshape(tf.slice(draws, [before % 4], [n]), shape)


class StreamPerRow(NamedTuple):
    """One stream for each row of a batch.

    Attributes:
        seeds: int32 [n, 2].
    """

    seeds: tf.Tensor

    def fold(self, *values: Any) -> "StreamPerRow":
        """The streams that integers, or integer scalars, name within them."""
        values = tuple(tf.cast(value, tf.int32) for value in values)
        folded = _fold_rows(self.seeds, values)
        return StreamPerRow(tf.ensure_shape(folded, self.seeds.shape))

    def take(self, rows: tf.Tensor) -> "StreamPerRow":
        """The streams of some rows, integers [m]."""
        return StreamPerRow(tf.gather(self.seeds, rows))

    def uniform(self, shape: Shape) -> tf.Tensor:
        """Uniform in [-1, 1), float32; `shape` is [n, ...]."""
        return _draw_rows(_uniform, shape[1:], self.seeds)

    def normal(self, shape: Shape) -> tf.Tensor:
        """Standard normal, float32; `shape` is [n, ...]."""
        return _draw_rows(_normal, shape[1:], self.seeds)


AnyStream = Stream | StreamFromRow | StreamPerRow


def stream(number: int) -> Stream:
    """The stream of an integer seed."""
    return Stream(_seed(number))


def stream_per_row(numbers: Sequence[int]) -> StreamPerRow:
    """A stream for each of a list of integer seeds."""
    seeds = _seed(numbers)
    if seeds.shape.rank != 2 or seeds.shape[0] == 0:
        raise ValueError("seeds must be a list of integers, such as range(64)")
    return StreamPerRow(seeds)


def branch(number: int, *values: int) -> int:
    """The integer seed that integers name within another one."""
    return int(stream(number).fold(*values).integer(2**31 - 1))


def _seed(number: Any) -> tf.Tensor:
    """int32 [2] of an integer, [n, 2] of a list of them."""
    return tf.bitcast(tf.cast(number, tf.int64), tf.int32)


def _fold(seed: tf.Tensor, values: Sequence[Any]) -> tf.Tensor:
    for value in values:
        seed = tf.random.fold_in(seed, tf.cast(value, tf.int32), alg="philox")
    return seed


def _uniform(shape: Shape, seed: tf.Tensor) -> tf.Tensor:
    return tf.random.stateless_uniform(shape, seed, -1.0, alg="philox")


def _normal(shape: Shape, seed: tf.Tensor) -> tf.Tensor:
    return tf.random.stateless_normal(shape, seed, alg="philox")


# Both are compiled: outside a graph `map_fn` takes a second for 64 rows.


@compat.without_retracing_warning
@tf.function(reduce_retracing=True)
def _fold_rows(seeds: tf.Tensor, values: Sequence[tf.Tensor]) -> tf.Tensor:
    return tf.map_fn(lambda seed: _fold(seed, values), seeds)


@compat.without_retracing_warning
@tf.function(reduce_retracing=True)
def _draw_rows(
    draw: Callable[..., tf.Tensor], shape: Shape, seeds: tf.Tensor
) -> tf.Tensor:
    return tf.map_fn(
        lambda seed: draw(shape, seed),
        seeds,
        fn_output_signature=tf.float32,
    )

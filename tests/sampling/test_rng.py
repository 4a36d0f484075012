import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.sampling import rng


def test_a_row_does_not_depend_on_the_rows_beside_it():
    together = rng.stream_per_row([5, 6, 7]).normal([3, 4, 4, 1])
    alone = rng.stream_per_row([6]).normal([1, 4, 4, 1])
    np.testing.assert_array_equal(together[1], alone[0])


@pytest.mark.parametrize("draw", ["uniform", "normal"])
@pytest.mark.parametrize(
    "shape", [(4, 4, 1), (3,), ()]
)  # 3 is no multiple of 4
def test_rows_drawn_apart_are_those_of_the_whole(draw, shape):
    stream = rng.stream(5)
    whole = getattr(stream.fold(7), draw)([9, *shape])
    for first, last in ((0, 3), (3, 8), (8, 9)):
        part = stream.from_row(first).fold(7)
        rows = getattr(part, draw)([last - first, *shape])
        np.testing.assert_array_equal(rows, whole[first:last])


@pytest.mark.parametrize("draw", ["uniform", "normal"])
def test_rows_drawn_apart_differ_under_xla_too(draw):
    @tf.function(jit_compile=True)
    def rows(first):
        return getattr(rng.stream(5).from_row(first), draw)([4, 6])

    first, second = rows(0).numpy(), rows(4).numpy()
    assert len(np.unique(np.concatenate([first, second]))) == 48


def test_folding_rows_is_folding_each_row():
    rows = rng.stream_per_row([5, 6]).fold(9, rng.CHAIN)
    alone = rng.stream(6).fold(9, rng.CHAIN)
    np.testing.assert_array_equal(rows.seeds[1], alone.seed)


@pytest.mark.parametrize("draw", ["uniform", "normal"])
def test_a_row_of_its_own_stream_is_drawn_as_by_that_stream(draw):
    rows = getattr(rng.stream_per_row([5, 6]), draw)([2, 4, 3])
    alone = getattr(rng.stream(6), draw)([4, 3])
    np.testing.assert_array_equal(rows[1], alone)


def test_shapes_are_known_inside_a_graph():
    @tf.function
    def rows(seeds):
        stream = rng.stream_per_row(seeds).fold(rng.START)
        x = stream.uniform([stream.seeds.shape[0], 4, 3])
        assert stream.seeds.shape == seeds.shape + [2]
        assert x.shape[1:] == [4, 3]
        return x

    for seeds in ([1, 2], [1, 2, 3]):
        inside = rows(tf.constant(seeds))
        outside = rng.stream_per_row(seeds).fold(rng.START)
        np.testing.assert_array_equal(
            inside, outside.uniform([len(seeds), 4, 3])
        )


@pytest.mark.parametrize("seeds", [3, [], [[1]]])
def test_streams_per_row_need_a_list(seeds):
    with pytest.raises(ValueError, match="list of integers"):
        rng.stream_per_row(seeds)


def test_the_bits_of_draws_never_change():
    """Seeds of samples and runs of earlier versions must stay valid."""
    x = rng.stream(5).fold(rng.TRAIN, 3).uniform([2])
    np.testing.assert_array_equal(x, np.float32([-0.65520072, 0.881105423]))
    y = rng.stream_per_row([5, -6]).fold(rng.CHAIN).normal([2, 1])
    np.testing.assert_array_equal(y, np.float32([[3.48007941], [-0.939810038]]))


def test_purposes_and_updates_name_different_streams():
    base = rng.stream(1)
    names = [(u, p) for u in range(5) for p in range(6)]
    seeds = {tuple(base.fold(*name).seed.numpy()) for name in names}
    assert len(seeds) == len(names)


def test_uniform_fills_minus_one_to_one():
    x = rng.stream(1).uniform([100_000]).numpy()
    assert -1 <= x.min() < -0.999 and 0.999 < x.max() < 1
    assert abs(x.mean()) < 0.01


def test_large_and_negative_numbers_are_seeds_too():
    seeds = rng.stream_per_row([-1, 2**40, 2**40 + 1]).seeds.numpy()
    assert len({tuple(seed) for seed in seeds}) == 3

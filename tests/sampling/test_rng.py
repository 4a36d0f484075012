import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.sampling import rng


def test_a_row_does_not_depend_on_the_rows_beside_it():
    together = rng.normal([3, 4, 4, 1], rng.seed_of([5, 6, 7]))
    alone = rng.normal([1, 4, 4, 1], rng.seed_of([6]))
    np.testing.assert_array_equal(together[1], alone[0])


@pytest.mark.parametrize("draw", [rng.uniform, rng.normal])
@pytest.mark.parametrize(
    "shape", [(4, 4, 1), (3,), ()]
)  # 3 is no multiple of 4
def test_rows_drawn_apart_are_those_of_the_whole(draw, shape):
    seed = rng.seed_of(5)
    whole = draw([9, *shape], rng.fold(seed, 7))
    for first, last in ((0, 3), (3, 8), (8, 9)):
        part = rng.fold(rng.from_row(seed, first), 7)
        rows = draw([last - first, *shape], part)
        np.testing.assert_array_equal(rows, whole[first:last])


@pytest.mark.parametrize("draw", [rng.uniform, rng.normal])
def test_rows_drawn_apart_differ_under_xla_too(draw):
    @tf.function(jit_compile=True)
    def rows(first):
        return draw([4, 6], rng.from_row(rng.seed_of(5), first))

    first, second = rows(0).numpy(), rows(4).numpy()
    assert len(np.unique(np.concatenate([first, second]))) == 48


def test_folding_rows_is_folding_each_row():
    rows = rng.fold(rng.seed_of([5, 6]), 9, rng.CHAIN)
    np.testing.assert_array_equal(
        rows[1], rng.fold(rng.seed_of(6), 9, rng.CHAIN)
    )


def test_purposes_and_updates_name_different_streams():
    base = rng.seed_of(1)
    names = [(u, p) for u in range(5) for p in range(6)]
    seeds = {tuple(rng.fold(base, *name).numpy()) for name in names}
    assert len(seeds) == len(names)


def test_uniform_fills_minus_one_to_one():
    x = rng.uniform([100_000], tf.constant([1, 2])).numpy()
    assert -1 <= x.min() < -0.999 and 0.999 < x.max() < 1
    assert abs(x.mean()) < 0.01


def test_large_and_negative_numbers_are_seeds_too():
    seeds = rng.seed_of([-1, 2**40, 2**40 + 1]).numpy()
    assert len({tuple(seed) for seed in seeds}) == 3

import numpy as np
import tensorflow as tf

from srmcmc_tf import rng


def test_a_row_does_not_depend_on_the_rows_beside_it():
    together = rng.normal([3, 4, 4, 1], rng.seed_of([5, 6, 7]))
    alone = rng.normal([1, 4, 4, 1], rng.seed_of([6]))
    np.testing.assert_array_equal(together[1], alone[0])


def test_folding_rows_is_folding_each_row():
    rows = rng.fold(rng.seed_of([5, 6]), 9, rng.CHAIN)
    np.testing.assert_array_equal(
        rows[1], rng.fold(rng.seed_of(6), 9, rng.CHAIN)
    )


def test_purposes_updates_and_replicas_name_different_streams():
    base = rng.seed_of(1)
    names = [(u, r, p) for u in range(3) for r in range(2) for p in range(5)]
    seeds = {tuple(rng.fold(base, *name).numpy()) for name in names}
    assert len(seeds) == len(names)


def test_uniform_fills_minus_one_to_one():
    x = rng.uniform([100_000], tf.constant([1, 2])).numpy()
    assert -1 <= x.min() < -0.999 and 0.999 < x.max() < 1
    assert abs(x.mean()) < 0.01


def test_large_and_negative_numbers_are_seeds_too():
    seeds = rng.seed_of([-1, 2**40, 2**40 + 1]).numpy()
    assert len({tuple(seed) for seed in seeds}) == 3

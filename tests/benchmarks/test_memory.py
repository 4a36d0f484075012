import resource

import numpy as np
import tensorflow as tf

from srmcmc_tf.benchmarks import common, memory
from srmcmc_tf.sampling import inversion, rng


def test_both_gradients_of_the_benchmark_are_the_same():
    f = common.model(8, 1, 4, 5).energy
    z = rng.stream(0).uniform([2, 8, 8, 1])
    found = [
        tf.function(through)(f, z, memory._squares, K=tf.constant(5))
        for through in (inversion.through_chain, memory.through_chain_naively)
    ]
    for ours, naive in zip(*found, strict=True):
        np.testing.assert_allclose(ours, naive, rtol=1e-4, atol=1e-5)


def test_the_peak_is_in_megabytes():
    # getrusage also counts a peak of the parent process.
    limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert 50 < memory.high_water() <= limit + 1

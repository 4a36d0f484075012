import resource

import numpy as np
import tensorflow as tf

from srmcmc_tf.benchmarks import common, memory
from srmcmc_tf.sampling import inversion, rng


def test_both_gradients_of_the_benchmark_are_the_same():
    f = common.model(8, 1, 4, 5).energy
    z = rng.stream(0).uniform([2, 8, 8, 1])
    found = [
        tf.function(through)(
            lambda x: f(x), z, memory._squares, K=tf.constant(5)
        )
        for through in (inversion.through_chain, memory.through_chain_naively)
    ]
    for ours, naive in zip(*found, strict=True):
        np.testing.assert_allclose(ours, naive, rtol=1e-4, atol=1e-5)


def test_the_shortcut_of_the_benchmark_is_taken_and_agrees(monkeypatch):
    small = common.model(8, 1, 4, 5)
    monkeypatch.setattr(common, "model", lambda *_: small)
    images = rng.stream(0).uniform([2, 8, 8, 1])
    monkeypatch.setattr(rng.Stream, "uniform", lambda *_: images)
    taken = []

    def in_segments(f, *args, segments=inversion.in_segments, **kwargs):
        taken.append(f)
        return segments(f, *args, **kwargs)

    monkeypatch.setattr(inversion, "in_segments", in_segments)
    line = memory.compare_shortcut(5, rounds=1)
    assert "largest difference 0.0e+00" in line
    assert len(taken) == 1 and taken[0] is not small.energy


def test_the_peak_is_in_megabytes():
    # getrusage also counts a peak of the parent process.
    limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert 50 < memory.high_water() <= limit + 1

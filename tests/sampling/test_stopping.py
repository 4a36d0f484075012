import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.models import energies
from srmcmc_tf.sampling import chain, rng
from srmcmc_tf.sampling.kernels import Kernel
from srmcmc_tf.sampling.stopping import Stop

_run = tf.function(chain.run)


def f(x):
    return -0.5 * tf.reduce_sum(x**2, axis=1)


def run(x, stop, *, f=f, K=20, level=0.0, compact=True, **settings):
    stream = rng.stream_per_row(range(len(x)))
    settings = dict(step_size=0.1, noise=0.0) | settings
    holds = stop.holds(level)
    x = tf.constant(x, tf.float32)
    return _run(f, x, stream, K=K, holds=holds, compact=compact, **settings)


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize(
    "stop", [Stop(rule="slope"), Stop(rule="level")], ids=lambda s: s.rule
)
def test_an_infinite_stopping_time_equals_K_bit_for_bit(stop, compact):
    f = energies.convnet(8, 1, n_f=2)
    x = rng.stream(3).uniform([5, 8, 8, 1])
    settings = dict(f=f, noise=0.01, step_size=1.0, level=np.inf)
    fixed = run(x, Stop(), **settings)
    stopped = run(x, stop, compact=compact, **settings)
    np.testing.assert_array_equal(stopped.x, fixed.x)
    np.testing.assert_array_equal(stopped.steps, [20] * 5)
    np.testing.assert_array_equal(stopped.evaluations, fixed.evaluations)


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize(
    "stop", [Stop(rule="slope", below=0.5), Stop(rule="level")]
)
def test_chains_stop_when_first_the_rule_holds(stop, compact):
    x = np.float32([[0.4, 0], [1, 0], [2, 0], [64, 0]])
    ends = run(x, stop, level=-0.125, compact=compact)
    steps = [
        max(0, int(np.ceil(np.log(0.5 / s) / np.log(0.9)))) for s in x.T[0]
    ]
    steps = [min(s, 20) for s in steps]
    assert steps[0] == 0 < steps[1] < steps[2] < steps[3] == 20
    np.testing.assert_array_equal(ends.steps, steps)
    expected = x * 0.9 ** np.array(steps)[:, None]
    np.testing.assert_allclose(ends.x, expected, rtol=1e-5)


def test_stopped_chains_cost_nothing_more():
    rows = []

    def counted(x):
        tf.py_function(lambda n: rows.append(int(n)), [tf.shape(x)[0]], [])
        return f(x)

    x = np.float32([[0.4, 0], [1, 0], [2, 0]])
    ends = run(x, Stop(rule="slope", below=0.5), f=counted, K=50)
    assert sum(rows) == ends.evaluations.numpy().sum()
    assert max(rows) == 3 and rows[-1] == 1 and len(rows) < 20


def test_compacted_and_masked_chains_are_the_same():
    x = rng.stream(3).normal([64, 3]).numpy()
    stop = Stop(rule="slope", below=0.8)
    settings = dict(noise=0.05, kernel=Kernel(name="mala"))
    a, b = (run(x, stop, compact=c, **settings) for c in (True, False))
    for one, other in zip(a, b, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert 0 < a.steps.numpy().min() or 1 < len(set(a.steps.numpy()))


def test_a_chain_that_stopped_stays_where_it_is_continued():
    x = np.float32([[1, 0], [2, 0]])
    stop = Stop(rule="slope", below=0.5)
    first = run(x, stop, K=10)
    second = run(first.x, stop, K=10, first=10)
    whole = run(x, stop, K=20)
    np.testing.assert_array_equal(second.x, whole.x)
    np.testing.assert_array_equal(first.steps + second.steps, whole.steps)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(rule="never"), "must be one of K, slope, level"),
        (dict(rule="slope", below=-1.0), "must be positive"),
        (dict(rule="level", below=1.0), "only for rule='slope'"),
    ],
)
def test_impossible_rules_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Stop(**settings)

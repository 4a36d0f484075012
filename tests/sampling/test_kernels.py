import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.sampling import chain, kernels, rng
from srmcmc_tf.sampling.kernels import Kernel

MALA = Kernel(name="mala")
HMC = Kernel(name="hmc", leapfrog=4)
FREE_HMC = Kernel(name="hmc", leapfrog=4, metropolis=False)
A = np.float32([1.0, 4.0])  # the target has the variances T / A
STEP, NOISE = 0.12, 0.3
T = NOISE**2 / (2 * STEP)
N = 40_000

_run = tf.function(chain.run)


def f(x):
    return -0.5 * tf.reduce_sum(A * x**2, axis=1)


def run(x, *, K=1, seed=0, f=f, **settings):
    settings = dict(step_size=STEP, noise=NOISE) | settings
    return _run(f, tf.constant(x), rng.stream(seed), K=K, **settings)


def target(n=N):
    """Exact draws of exp(f / T)."""
    x = np.random.default_rng(1).normal(size=(n, 2))
    return np.float32(x * np.sqrt(T / A))


def same(a, b):
    """Whether two sets of draws have the same mean, within four errors."""
    error = np.sqrt(np.var(a, axis=0) / len(a) + np.var(b, axis=0) / len(b))
    return (np.abs(np.mean(a, axis=0) - np.mean(b, axis=0)) < 4 * error).all()


@pytest.mark.parametrize("kernel", [MALA, HMC], ids=lambda k: k.name)
def test_corrected_chains_reach_the_target(kernel):
    ends = run(np.full([N, 2], 1.5, np.float32), K=40, kernel=kernel)
    x, exact = ends.x.numpy(), target()
    assert same(x, exact) and same(x**2, exact**2)
    assert 0.5 < ends.accepted < 1


@pytest.mark.parametrize("kernel", [MALA, HMC], ids=lambda k: k.name)
def test_acceptance_and_moments_are_those_of_tensorflow_probability(kernel):
    mcmc = pytest.importorskip("tensorflow_probability").mcmc

    def density(x):
        return f(x) / T

    other = mcmc.HamiltonianMonteCarlo(density, NOISE, HMC.leapfrog)
    if kernel is MALA:  # tfp's step size is the variance of its noise
        other = mcmc.MetropolisAdjustedLangevinAlgorithm(density, NOISE**2)
    x = np.full([N, 2], 0.4, np.float32)
    theirs, results = other.one_step(
        x, other.bootstrap_results(tf.constant(x)), seed=[1, 2]
    )
    ours = run(x, kernel=kernel)
    assert same(ours.x.numpy(), theirs) and same(ours.x.numpy() ** 2, theirs**2)
    rate = results.is_accepted.numpy().astype(float)
    assert 0.3 < rate.mean() < 0.99
    assert abs(ours.accepted - rate.mean()) < 4 * rate.std() / np.sqrt(N / 2)


@pytest.mark.parametrize("kernel", [MALA, HMC], ids=lambda k: k.name)
def test_corrected_steps_satisfy_detailed_balance(kernel):
    """Forwards and backwards, a stationary pair has the same law."""
    x = target(200_000)
    y = run(x, kernel=kernel, noise=2 * NOISE, step_size=4 * STEP).x.numpy()
    assert same(x**2, y**2)
    flow = x**3 * y - x * y**3
    assert same(flow, -flow)


def test_without_a_correction_the_target_is_missed():
    """Or the tests above would pass for any kernel."""
    x = target(200_000)
    y = run(x, noise=2 * NOISE, step_size=4 * STEP).x.numpy()
    assert not same(x**2, y**2)


def test_hmc_of_one_leapfrog_step_is_langevin_or_mala():
    x = target(100)
    one = {"name": "hmc", "leapfrog": 1}
    langevin = run(x, K=3).x
    free = run(x, K=3, kernel=Kernel(**one, metropolis=False)).x
    np.testing.assert_array_equal(free, langevin)
    mala = run(x, K=3, kernel=MALA).x
    np.testing.assert_array_equal(run(x, K=3, kernel=Kernel(**one)).x, mala)


def test_free_hmc_has_the_momentum_of_its_closed_form():
    """Without noise, L leapfrog steps in a parabola are a rotation."""
    x = np.float32([[1.0, 0.0]])
    end = run(x, kernel=FREE_HMC, noise=0.0, step_size=0.02).x
    angle = 4 * np.arccos(1 - 0.02)  # leapfrog's own, a little over 4 * 0.2
    np.testing.assert_allclose(end, [[np.cos(angle), 0]], atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "cost"), [(Kernel(), 1), (MALA, 2), (HMC, 5), (FREE_HMC, 4)]
)
def test_evaluations_of_f_prime_are_counted(kernel, cost):
    calls = []

    def counted(x):
        calls.append(1)
        return f(x)

    x = tf.zeros([3, 2])
    settings = dict(step_size=STEP, noise=NOISE, kernel=kernel)
    kernels.step(counted, x, rng.stream(0), 0, **settings)
    assert len(calls) == kernel.evaluations == cost
    ends = run(x, K=7, kernel=kernel)
    np.testing.assert_array_equal(ends.evaluations, [7 * cost] * 3)


def test_clipping_bounds_the_slope_and_clamping_bounds_x():
    x = np.float32([[5.0, -0.1]])
    clipped = run(x, kernel=Kernel(clip=0.5), noise=0.0).x
    np.testing.assert_allclose(clipped, x - STEP * np.float32([[0.5, -0.4]]))
    clamped = run(x, kernel=Kernel(clamp=1.0), noise=0.0)
    np.testing.assert_allclose(clamped.x[0, 0], 1.0)


def test_a_clipped_slope_leaves_the_target_of_a_corrected_kernel():
    x = target(200_000)
    kernel = Kernel(name="hmc", leapfrog=3, clip=0.2)
    assert same(x**2, run(x, kernel=kernel).x.numpy() ** 2)


def test_chains_do_not_move_where_they_are_held():
    x = target(50)
    free = np.float32([[1.0, 0.0]])
    for kernel in (Kernel(clamp=0.3), MALA, HMC, FREE_HMC):
        y = run(x, K=5, kernel=kernel, project=lambda v: v * free).x.numpy()
        np.testing.assert_array_equal(y[:, 1], x[:, 1])
        assert (y[:, 0] != x[:, 0]).mean() > 0.9


def test_a_chain_does_not_depend_on_those_beside_it():
    x = target(3)
    settings = dict(K=4, step_size=STEP, noise=NOISE, kernel=HMC)
    together = _run(f, x, rng.stream_per_row([5, 6, 7]), **settings).x
    alone = _run(f, x[1:2], rng.stream_per_row([6]), **settings).x
    np.testing.assert_allclose(together[1:2], alone, rtol=1e-6)


def test_replicas_draw_the_steps_of_the_whole_batch():
    x = target(6)
    settings = dict(K=4, step_size=STEP, noise=NOISE, kernel=MALA)
    whole = run(x, K=4, kernel=MALA).x
    part = _run(f, x[4:], rng.stream(0).from_row(4), **settings).x
    np.testing.assert_allclose(whole[4:], part, rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(name="nuts"), "must be one of langevin, mala, hmc"),
        (dict(leapfrog=0), "leapfrog=0: must be 1 or more"),
        (dict(clip=-1.0), "must be positive"),
        (dict(name="mala", clamp=1.0), "would break the Metropolis"),
    ],
)
def test_impossible_kernels_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Kernel(**settings)

"""What a model has learned of a toy: densities on a grid, and their numbers.

The grid covers [-1, 1], where the chains start. Three densities are compared:
the truth, the learned EBM exp(f) / Z, and a kernel estimate (KDE) of where
the chains end.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from srmcmc_tf.data import toys
from srmcmc_tf.sampling import chain, rng

BANDWIDTH = 0.02  # of the kernel: less than half the scale of any toy but one
CHAINS = 10_000
_CELLS = {1: 500, 2: 200}  # along a side of the grid


class Densities(NamedTuple):
    """Three densities, float64, [cells] in 1-D and [cells, cells] in 2-D.

    Attributes:
        axis: the middles of the cells along a side, [cells].
        truth: the exact density of the toy.
        log_ebm: the logarithm of the EBM's density, normalised on the grid.
        kde: the estimate from `CHAINS` ends of chains.
        kde_of_truth: the estimate from as many exact draws: no sampler can be
            expected to come nearer to the truth than this.
    """

    axis: np.ndarray
    truth: np.ndarray
    log_ebm: np.ndarray
    kde: np.ndarray
    kde_of_truth: np.ndarray


def of(model, toy):
    """The `Densities` of a `ShortRunEBM` that learned a `Toy`."""
    d = toy.centers.shape[1]
    axis = (np.arange(_CELLS[d]) + 0.5) * (2 / _CELLS[d]) - 1
    points = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1)
    shape, points = points.shape[:-1], points.reshape(-1, d)
    f = model.energy(tf.constant(points, tf.float32)).numpy()
    f = f.astype(np.float64).reshape(shape)
    # Other chains and draws than those of the training, always the same.
    seed = rng.fold(rng.seed_of(0), rng.TEST)
    ends = _ends(
        model.energy,
        rng.uniform([CHAINS, d], rng.fold(seed, rng.START)),
        rng.fold(seed, rng.CHAIN),
        K=model.K,
        step_size=model.step_size,
        noise=model.noise,
    )
    return Densities(
        axis,
        toys.density(toy, points).reshape(shape),
        f - np.logaddexp.reduce(f.ravel()) - np.log(_cell(axis, f)),
        kde(ends.numpy(), axis),
        kde(toys.draw(toy, CHAINS, seed), axis),
    )


def measure(found):
    """The numbers of `Densities`, by name.

    Returns:
        A dictionary: `kde_tv`, the total variation distance of the KDE to the
        truth, in [0, 1]; `kde_of_truth_tv`, the same of exact draws; and the
        differential entropies `truth_entropy`, `ebm_entropy`, in nats.
    """
    cell = _cell(found.axis, found.truth)

    def distance(density):
        # What lies outside the grid is in neither minimum: it counts.
        return float(1 - cell * np.minimum(found.truth, density).sum())

    def entropy(density):
        some = density[density > 0]
        return float(-cell * (some * np.log(some)).sum())

    return {
        "kde_tv": distance(found.kde),
        "kde_of_truth_tv": distance(found.kde_of_truth),
        "truth_entropy": entropy(found.truth),
        "ebm_entropy": entropy(np.exp(found.log_ebm)),
    }


def modes(axis, density):
    """The local maxima of a density, or of its logarithm, on a grid.

    Args:
        axis: the middles of the cells along a side, [cells].
        density: float64, [cells] or [cells, cells].

    Returns:
        float64 [m, d], the highest first.
    """
    d = density.ndim
    padded = np.pad(density, 1, constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, [3] * d)
    highest = windows.max(axis=tuple(range(d, 2 * d)))
    places = np.argwhere((density == highest) & (density > density.min()))
    order = np.argsort(-density[tuple(places.T)], kind="stable")
    return axis[places[order]]


def kde(x, axis):
    """A Gaussian kernel estimate from points [n, d], on a grid of one axis."""
    scaled = (x[:, :, None] - axis) / BANDWIDTH
    bells = np.exp(-0.5 * scaled**2) / (np.sqrt(2 * np.pi) * BANDWIDTH)
    # The kernel is a product over coordinates, so that the sum over points is
    # a product of matrices.
    if x.shape[1] == 1:
        return bells[:, 0].mean(axis=0)
    return bells[:, 0].T @ bells[:, 1] / len(x)


@tf.function(reduce_retracing=True)
def _ends(f, z, seed, **settings):
    return chain.langevin(f, z, seed, **settings).x


def _cell(axis, density):
    return (2 / len(axis)) ** density.ndim

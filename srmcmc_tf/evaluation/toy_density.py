"""Densities that a model has learned of a toy, on a grid, and distances.

The grid covers [-1, 1], where the chains start. Three densities are compared:
the truth, the learned EBM exp(f) / Z, and a kernel density estimate (KDE) from
the ends of the chains.
"""

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from srmcmc_tf.data import toys
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.sampling import chain, rng

BANDWIDTH = 0.02  # less than half the scale of every toy but one
CHAINS = 10_000
_CELLS = {1: 500, 2: 200}  # per side of the grid, by the dimension


class Densities(NamedTuple):
    """Three densities, float64, [cells] in 1-D and [cells, cells] in 2-D.

    Attributes:
        axis: centers of the cells along a side, [cells].
        truth: exact density of the toy.
        log_ebm: logarithm of the EBM's density, normalized on the grid.
        kde: estimate from the ends of `CHAINS` chains.
        kde_of_truth: estimate from as many exact draws: no sampler can be
            expected to be closer to the truth.
    """

    axis: np.ndarray
    truth: np.ndarray
    log_ebm: np.ndarray
    kde: np.ndarray
    kde_of_truth: np.ndarray


def estimate(model: ShortRunEBM, toy: toys.Toy) -> Densities:
    """Estimates the `Densities` of a model that was trained on a toy."""
    d = toy.centers.shape[1]
    axis = (np.arange(_CELLS[d]) + 0.5) * (2 / _CELLS[d]) - 1
    points = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1)
    shape, points = points.shape[:-1], points.reshape(-1, d)
    f = model.energy(tf.constant(points, tf.float32)).numpy()
    f = f.astype(np.float64).reshape(shape)
    # Always the same chains and draws, but none of the training's.
    stream = rng.stream(0).fold(rng.TEST)
    ends = _ends(
        model.energy,
        stream.fold(rng.START).uniform([CHAINS, d]),
        stream.fold(rng.CHAIN),
        K=model.K,
        step_size=model.step_size,
        noise=model.noise,
    )
    return Densities(
        axis,
        toys.density(toy, points).reshape(shape),
        f - np.logaddexp.reduce(f.ravel()) - np.log(_cell(axis, f)),
        kde(ends.numpy(), axis),
        kde(toys.draw(toy, CHAINS, stream), axis),
    )


def measure(densities: Densities) -> dict[str, float]:
    """Distances and entropies of `Densities`, by name.

    Returns:
        A dictionary: `kde_tv`, the total variation distance of the KDE to the
        truth, in [0, 1]; `kde_of_truth_tv`, that of exact draws; and the
        differential entropies `truth_entropy`, `ebm_entropy`, in nats.
    """
    truth = densities.truth
    cell = _cell(densities.axis, truth)

    def distance(density: np.ndarray) -> float:
        # Mass outside the grid is in neither minimum, so it counts.
        return float(1 - cell * np.minimum(truth, density).sum())

    def entropy(density: np.ndarray) -> float:
        positive = density[density > 0]
        return float(-cell * (positive * np.log(positive)).sum())

    return {
        "kde_tv": distance(densities.kde),
        "kde_of_truth_tv": distance(densities.kde_of_truth),
        "truth_entropy": entropy(truth),
        "ebm_entropy": entropy(np.exp(densities.log_ebm)),
    }


def modes(axis: np.ndarray, density: np.ndarray) -> np.ndarray:
    """The local maxima of a density, or of its logarithm, on a grid.

    Args:
        axis: centers of the cells along a side, [cells].
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


def kde(x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """A Gaussian kernel density estimate on a grid.

    Args:
        x: points [n, d], with d = 1 or 2.
        axis: centers of the cells along every side, [cells].

    Returns:
        float64, [cells] or [cells, cells].
    """
    scaled = (x[:, :, None] - axis) / BANDWIDTH
    bells = np.exp(-0.5 * scaled**2) / (np.sqrt(2 * np.pi) * BANDWIDTH)
    # The kernel is a product over coordinates, so the sum over points is a
    # matrix product.
    if x.shape[1] == 1:
        return bells[:, 0].mean(axis=0)
    return bells[:, 0].T @ bells[:, 1] / len(x)


@tf.function(reduce_retracing=True)
def _ends(
    f: Any, z: tf.Tensor, stream: rng.Stream, **settings: Any
) -> tf.Tensor:
    return chain.langevin(f, z, stream, **settings).x


def _cell(axis: np.ndarray, density: np.ndarray) -> float:
    return (2 / len(axis)) ** density.ndim

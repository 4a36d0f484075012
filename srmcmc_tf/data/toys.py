"""Toys: densities in 1-D and 2-D that are known exactly, to learn from.

Each is a mixture of pieces, Gaussians or squares, many of them along a curve
where it is one. So its draws are exact, and its density is a sum. All lie well
inside [-1, 1], where the chains start.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from srmcmc_tf.config.datasets import DATASETS
from srmcmc_tf.sampling import rng


class Toy(NamedTuple):
    """A mixture of pieces of one kind, in d dimensions.

    Attributes:
        weights: of the pieces, float64 [c], of sum 1.
        centers: float64 [c, d].
        scales: float64 [c]: standard deviations of Gaussians, half the sides
            of squares.
        square: whether the pieces are uniform on squares; else Gaussian.
    """

    weights: np.ndarray
    centers: np.ndarray
    scales: np.ndarray
    square: bool = False


def get(dataset: str, name: str) -> Toy:
    """The `Toy` of that name; `Dataset.toys` lists them."""
    if name not in DATASETS[dataset].toys:
        raise ValueError(f"{dataset} has no toy {name!r}")
    return _TOYS[DATASETS[dataset].dimension, name]()


def draw(toy: Toy, n: int, stream: rng.Stream) -> np.ndarray:
    """Exact draws.

    Args:
        toy: a `Toy`.
        n: how many.
        stream: names them all.

    Returns:
        float32 [n, d].
    """
    d = toy.centers.shape[1]
    with tf.device("cpu"):  # the same draws on any machine
        u = (stream.fold(rng.TOY, 0).uniform([n]).numpy() + 1) / 2
        piece = np.searchsorted(np.cumsum(toy.weights), u, side="right")
        piece = np.minimum(piece, len(toy.weights) - 1)  # of rounding
        offsets = stream.fold(rng.TOY, 1)
        draw = offsets.uniform if toy.square else offsets.normal
        offset = draw([n, d]).numpy()
    x = toy.centers[piece] + toy.scales[piece, None] * offset
    return x.astype(np.float32)


def density(toy: Toy, x: np.ndarray) -> np.ndarray:
    """The exact density at points [m, d]: float64 [m]."""
    x = np.asarray(x, np.float64)
    d = x.shape[1]
    total = np.zeros(len(x))
    for weight, center, scale in zip(
        toy.weights, toy.centers, toy.scales, strict=True
    ):
        u = (x - center) / scale
        if toy.square:
            total += weight * (np.abs(u) < 1).all(axis=1) / (2 * scale) ** d
        else:
            bell = np.exp(-0.5 * (u**2).sum(axis=1))
            total += weight * bell / (np.sqrt(2 * np.pi) * scale) ** d
    return total


def _mixtures_1d() -> Toy:
    """Three Gaussians of unequal weight and width."""
    return Toy(
        np.array([0.3, 0.45, 0.25]),
        np.array([[-0.65], [0.05], [0.7]]),
        np.array([0.07, 0.1, 0.05]),
    )


def _mixtures() -> Toy:
    """Eight Gaussians on a circle."""
    return _along(_circle(0.65, 8), 0.07)


def _rings() -> Toy:
    """Two circles around one point, of equal density along them."""
    # A third of a scale apart: their sum shows no ripple.
    points = [_circle(r, round(400 * r)) for r in (0.25, 0.75)]
    return _along(np.concatenate(points), 0.05)


def _spirals() -> Toy:
    """Two arms, each turned by half a circle from the other."""
    turn = 1.5 * np.pi * np.sqrt(np.linspace(0.04, 1.0, 200))
    arm = _polar(0.75 * turn / turn[-1], turn)
    return _along(np.concatenate([arm, -arm]), 0.05)


def _pinwheel() -> Toy:
    """Five bent blades, wider outwards."""
    r = np.linspace(0.2, 0.75, 60)
    blades = [_polar(r, 2 * np.pi * i / 5 + 1.5 * r) for i in range(5)]
    return _along(np.concatenate(blades), np.tile(0.02 + 0.08 * r, 5))


def _checkerboard() -> Toy:
    """The eight dark squares of a board of four by four."""
    row, column = np.nonzero(np.indices([4, 4]).sum(axis=0) % 2 == 0)
    centers = 0.4 * (np.stack([column, row], axis=1) - 1.5)
    return _along(centers, 0.2)._replace(square=True)


# By dimension and name.
_TOYS = {
    (1, "mixtures"): _mixtures_1d,
    (2, "mixtures"): _mixtures,
    (2, "rings"): _rings,
    (2, "spirals"): _spirals,
    (2, "checkerboard"): _checkerboard,
    (2, "pinwheel"): _pinwheel,
}


def _along(centers: np.ndarray, scales: np.ndarray | float) -> Toy:
    """Pieces of equal weight."""
    n = len(centers)
    return Toy(np.full(n, 1 / n), centers, np.broadcast_to(scales, [n]))


def _circle(radius: float, n: int) -> np.ndarray:
    return _polar(np.full(n, radius), 2 * np.pi * np.arange(n) / n)


def _polar(r: np.ndarray, angle: np.ndarray) -> np.ndarray:
    return np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)

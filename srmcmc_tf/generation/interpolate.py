"""Interpolation between samples of a run."""

import pathlib
from typing import NamedTuple

import numpy as np

from srmcmc_tf import plots
from srmcmc_tf.files import atomic, npz
from srmcmc_tf.generation import COLUMNS, PAIRS
from srmcmc_tf.generation.labels import Labels, numbers
from srmcmc_tf.runs.source import Source


class Interpolation(NamedTuple):
    """What `interpolate` measured and wrote.

    Attributes:
        smoothness: for each pair, the largest jump between neighbors over the
            distance between the ends, float [pairs].
        straight: what it would be for straight lines, the least possible.
        picture: a row per pair.
        file: npz of the arrays `x`, `rho`, `seeds` and `smoothness`.
    """

    smoothness: np.ndarray
    straight: float
    picture: pathlib.Path
    file: pathlib.Path


def interpolate(
    source: Source,
    *,
    pairs: int = PAIRS,
    columns: int = COLUMNS,
    out: atomic.PathLike | None = None,
    best: bool = False,
    labels: Labels | None = None,
) -> Interpolation:
    """Interpolates between the z of two seeds, without noise in the chain.

    Args:
        source: a trained run of images, or a model file.
        pairs: number of rows: from seed 2i to seed 2i + 1.
        columns: number of images per row, both ends included; at least 2.
        out: directory to write to, by default the source's.
        best: uses the best checkpoint, not the newest.
        labels: classes of a conditional model, those of the first pairs and
            then again from the first; by default 0, 1, ...
    """
    model = source.load_model(best=best)
    classes = numbers(source, model, labels) or range(model.n_classes)
    directory = source.output_directory(out)
    seeds = np.arange(2 * pairs).reshape(pairs, 2)
    z1, z2 = (model.start(column.tolist()) for column in seeds.T)
    # Equal angles, so that equal steps of z: rho = cos, sqrt(1 - rho^2) = sin.
    rho = np.cos(np.linspace(0, np.pi / 2, columns))
    rho[-1] = 0.0
    x = np.stack(
        [
            model.interpolate(
                a[None],
                b[None],
                rho.tolist(),
                **({"labels": classes[i % len(classes)]} if classes else {}),
            )[0].numpy()
            for i, (a, b) in enumerate(zip(z1, z2, strict=True))
        ]
    )
    found = Interpolation(
        smoothness(x),
        1 / (columns - 1),
        directory / "interpolation.png",
        directory / "interpolation.npz",
    )
    arrays = {"x": x, "rho": rho, "seeds": seeds}
    with atomic.together():
        npz.save(found.file, {**arrays, "smoothness": found.smoothness})
        plots.save_grid(
            found.picture, x.reshape(-1, *x.shape[2:]), columns, width=1024
        )
    return found


def smoothness(x: np.ndarray) -> np.ndarray:
    """Measures rows of images by their largest jump.

    Args:
        x: [rows, columns, h, w, c].

    Returns:
        float [rows], the largest distance between neighbors over the distance
        between the ends.
    """
    rows, columns = x.shape[:2]
    jumps = np.diff(x, axis=1).reshape(rows, columns - 1, -1)
    ends = (x[:, -1] - x[:, 0]).reshape(rows, -1)
    largest = np.linalg.norm(jumps, axis=2).max(axis=1)
    return largest / np.linalg.norm(ends, axis=1)

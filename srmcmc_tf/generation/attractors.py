"""The attractors of a run's energy, and how it recalls corrupted images."""

import pathlib
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from srmcmc_tf import plots
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, digests, npz
from srmcmc_tf.generation import ATTRACTORS
from srmcmc_tf.generation.images import images_of
from srmcmc_tf.runs.source import Source
from srmcmc_tf.sampling import attractors, degrade, rng
from srmcmc_tf.sampling.attractors import Rest

_SHOWN = 10  # images in each part of the picture
_BATCH = 100


class Attractors(NamedTuple):
    """What `find` measured and wrote.

    Attributes:
        record: the content of the JSON file: `starts` and the share `at_rest`
            of them, the number of `fixed_points` and the sizes of their
            `basins`, and under `recall`, by kind of corruption, the share of
            images that come to rest where the intact image does (`same`) and
            mean squared errors before and after.
        picture: the largest basins, and images with what is recalled.
        json: the file of `record`.
        file: npz of the arrays `x`, the fixed points, and `sizes`.
    """

    record: dict[str, Any]
    picture: pathlib.Path
    json: pathlib.Path
    file: pathlib.Path


def find(
    source: Source,
    *,
    n: int = ATTRACTORS,
    images: str | None = None,
    steps: int = 2_000,
    out: atomic.PathLike | None = None,
    best: bool = False,
) -> Attractors:
    """Runs chains without noise to rest, from noise and from images.

    Args:
        source: a trained run of images, or a model file.
        n: number of starts from noise, and of images at most.
        images: a directory of images to recall, by default those learned from.
        steps: most steps of a chain.
        out: directory to write to, by default the source's.
        best: uses the best checkpoint, not the newest.
    """
    model = source.load_model(best=best)
    if not source.kind.has_chain:
        raise UserError(f"{source}: {source.kind.name} has no energy to climb")
    if model.n_classes:
        raise UserError(
            f"bin/attractors: {source} has an energy for each class, not one"
        )
    shape = model.image_shape
    x = pixels.to_float(images_of(source, shape, images, n, "observed"))

    @tf.function(reduce_retracing=True)
    def climb(x: tf.Tensor) -> Rest:
        return attractors.run_to_rest(
            lambda x: model.energy(x, training=False),
            x,
            step_size=model.step_size,
            steps=steps,
        )

    def rest(x: tf.Tensor) -> Rest:
        parts = [climb(x[i : i + _BATCH]) for i in range(0, len(x), _BATCH)]
        return Rest(*(np.concatenate(c) for c in zip(*parts, strict=True)))

    noise = rng.stream_per_row(range(n)).fold(rng.START)
    from_noise = rest(noise.uniform([n, *shape]))
    basins = attractors.distinct(from_noise.x)
    intact = rest(x)
    spoiled = _corruptions(x)
    corrupted = {kind: rest(y) for kind, y in spoiled.items()}
    record = {
        "identity": digests.of_weights(model),
        "starts": n,
        "at_rest": float(from_noise.at_rest.mean()),
        "steps": float(from_noise.steps.mean()),
        "fixed_points": len(basins.x),
        "basins": basins.sizes.tolist(),
        "images": len(x),
        "fixed_points_of_images": len(attractors.distinct(intact.x).x),
        "recall": {
            kind: _recall(x, spoiled[kind], intact.x, end.x)
            for kind, end in corrupted.items()
        },
    }
    directory = source.output_directory(out)
    paths = [directory / f"attractors.{end}" for end in ("png", "json", "npz")]
    found = Attractors(record, *paths)
    with atomic.together():
        atomic.write_json(found.json, record)
        npz.save(found.file, {"x": basins.x, "sizes": basins.sizes})
        _draw(found.picture, basins, x, intact.x, corrupted)
    return found


def _corruptions(x: tf.Tensor) -> dict[str, tf.Tensor]:
    """Images with a hole, and with noise."""
    noise = rng.stream_per_row(range(len(x))).fold(rng.NOISE)
    draw = noise.normal(x.shape)
    settings: dict[str, Any] = dict(mask="left", factor=1)
    hole = degrade.observe("inpaint", tuple(x.shape[1:]), **settings)
    return {"left half": hole(x), "noise 0.5": x + 0.5 * draw}


def _recall(
    x: tf.Tensor, corrupted: tf.Tensor, intact: np.ndarray, end: np.ndarray
) -> dict[str, float]:
    gaps = np.sqrt(np.mean((end - intact) ** 2, axis=(1, 2, 3)))
    return {
        "same": float(np.mean(gaps < attractors.SAME)),
        "mse_before": float(np.mean((corrupted - x) ** 2)),
        "mse_after": float(np.mean((end - x) ** 2)),
        "mse_of_intact": float(np.mean((intact - x) ** 2)),
    }


def _draw(
    path: pathlib.Path,
    basins: attractors.Basins,
    x: tf.Tensor,
    intact: np.ndarray,
    corrupted: dict[str, Rest],
) -> None:
    """A row per image; the largest basins in the first column."""
    n = min(_SHOWN, len(x))
    largest = np.full([n, *basins.x.shape[1:]], -1.0, np.float32)
    largest[: len(basins.x)] = basins.x[:n]
    columns = [("basins", largest), ("image", x), ("rest", intact)]
    for kind, seen in _corruptions(x).items():
        columns += [(kind, seen), ("rest", corrupted[kind].x)]
    table = np.stack([np.asarray(c[:n]) for _, c in columns], axis=1)
    plots.save_table(path, table, [label for label, _ in columns])

"""Reconstruction of images by inference of z, also from parts of them."""

import functools
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from srmcmc_tf import plots
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, digests, npz
from srmcmc_tf.generation import (
    FACTOR,
    IMAGES,
    ITERATIONS,
    MASK,
    RULES,
    TASKS,
)
from srmcmc_tf.generation.images import images_of
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.runs.run import RECONSTRUCTION
from srmcmc_tf.runs.source import Source
from srmcmc_tf.sampling.inversion import Reconstruction

Observe = Callable[[tf.Tensor], tf.Tensor]

_BATCH = 50
_SHOWN = 8  # images in the picture, and frames of their inference


class Reconstructed(NamedTuple):
    """What `reconstruct` measured and wrote.

    Attributes:
        record: the content of the JSON file: `n`, `iterations`, the mean
            squared error per pixel and channel of images in [-1, 1], `mse`,
            its `mse_standard_error`, the `mse_at_start`, that of the same
            network with untrained weights on the first images,
            `mse_untrained`, ...; for parts of images `mse_unknown` and
            `psnr_unknown` of what was unknown, clipped to [-1, 1].
        picture: frames of the inference, a row per image.
        json: the file of `record`.
        file: npz of the arrays `x`, `reconstruction`, `z` and `mse`.
    """

    record: dict[str, Any]
    picture: pathlib.Path
    json: pathlib.Path
    file: pathlib.Path


def reconstruct(
    source: Source,
    *,
    images: str | None = None,
    n: int = IMAGES,
    iterations: int = ITERATIONS,
    rule: str = RULES[0],
    task: str = TASKS[0],
    mask: str = MASK,
    factor: int = FACTOR,
    out: atomic.PathLike | None = None,
    best: bool = False,
) -> Reconstructed:
    """Infers z of images, and measures what becomes of z.

    Args:
        source: a trained run of images, or a model file. Settings that mean
            nothing to its model (`ModelKind.accepts`) are not used.
        images: a directory of images, by default the left-out examples.
        n: number of images at most.
        iterations: steps of the inference.
        rule: "descent", as in the paper, or "adam".
        task: what is known of an image: "whole", "inpaint" or "upscale".
        mask: for "inpaint": "center", "left", or the path of a picture that is
            white where pixels are known.
        factor: for "upscale": how many times smaller the known image is.
        out: directory to write to, by default the source's.
        best: uses the best checkpoint, not the newest.
    """
    model = source.load_model(best=best)
    x = pixels.to_float(images_of(source, model.image_shape, images, n))
    observe = observation(
        task, size=model.image_shape[0], mask=mask, factor=factor
    )
    kind = source.kind
    settings: dict[str, Any] = {}
    if kind.accepts("iterations"):
        settings["iterations"] = iterations
    if kind.accepts("rule"):
        settings["rule"] = rule
    if kind.accepts("task"):
        settings["observe"] = observe
    iterations = settings.get("iterations", 0)
    keep = sorted({round(i * iterations / _SHOWN) for i in range(_SHOWN + 1)})
    found = _in_batches(model, x, {**settings, "keep": keep})
    record = {
        "identity": digests.of_weights(model),
        "task": task,
        "rule": settings.get("rule", kind.inference),
        **_errors(x, found),
        **_unknown(x, found, task, mask),
        **_untrained(model, x, settings),
    }
    name = pathlib.Path(RECONSTRUCTION).stem if task == "whole" else task
    directory = source.output_directory(out)
    paths = [
        directory / f"{name}.{suffix}" for suffix in ("png", "json", "npz")
    ]
    result = Reconstructed(record, *paths)
    arrays = {"x": x, "reconstruction": found.x, "z": found.z, "mse": found.mse}
    known = None if task == "whole" else observe(x)
    labels = [f"t={t}" for t in keep] if iterations else ["decoded"]
    with atomic.together():
        atomic.write_json(result.json, record)
        npz.save(result.file, arrays)
        _draw(result.picture, x, found, labels, known)
    return result


def observation(
    task: str, *, size: int, mask: str = MASK, factor: int = FACTOR
) -> Observe:
    """Returns a function from images to what is known of them.

    Args:
        task, mask, factor: as of `reconstruct`.
        size: height and width of the images.
    """
    if task == "whole":
        return tf.identity
    if task == "inpaint":
        known = _mask(mask, size)
        return lambda x: x * known
    if size % factor:
        raise UserError(f"--factor={factor}: must divide {size}")
    return functools.partial(_coarse, factor=factor)


def _coarse(x: tf.Tensor, factor: int) -> tf.Tensor:
    """Means of squares, at full size: so the gradient keeps its scale."""
    small = tf.nn.avg_pool2d(x, factor, factor, "VALID")
    return tf.repeat(tf.repeat(small, factor, axis=1), factor, axis=2)


def _mask(name: str, size: int) -> np.ndarray:
    """float32 [size, size, 1]: 1 where pixels are known."""
    mask = np.ones([size, size, 1], np.float32)
    if name == "center":
        mask[size // 4 : -size // 4, size // 4 : -size // 4] = 0
    elif name == "left":
        mask[:, : size // 2] = 0
    else:
        try:
            picture = pixels.square(pathlib.Path(name), (size, size, 1))
        except ValueError as error:
            raise UserError(
                f"--mask={name}: must be center, left or a picture ({error})"
            ) from None
        mask = (picture > 127).astype(np.float32)
    return mask


def _in_batches(
    model: Generator,
    x: tf.Tensor,
    settings: dict[str, Any],
    batch: int = _BATCH,
) -> Reconstruction:
    parts = []
    starts = range(0, len(x), batch)
    for i in tqdm(starts, unit=" batches", delay=2, disable=len(starts) == 1):
        some = x[i : i + batch]
        seeds = range(i, i + len(some))
        parts.append(model.reconstruct(some, seeds=seeds, **settings))
    columns = zip(*parts, strict=True)  # x, z, mse and frames
    joined = map(np.concatenate, columns, (0, 0, 1, 1))
    return Reconstruction(*joined)


def _errors(x: tf.Tensor, found: Reconstruction) -> dict[str, Any]:
    """Squared errors of whole images, also where less of them was known."""
    whole = np.mean((found.x - x) ** 2, axis=(1, 2, 3))
    start = np.mean((found.frames[0] - x) ** 2, axis=(1, 2, 3))
    return {
        "n": len(x),
        "iterations": len(found.mse) - 1,
        "range": "[-1, 1]",
        "mse": float(whole.mean()),
        "mse_standard_error": float(whole.std() / np.sqrt(len(x))),
        "mse_at_start": float(start.mean()),
        "loss_per_pixel": float(found.mse[-1].mean()),
        "mse_in_unit_range": float(whole.mean() / 4),
    }


def _unknown(
    x: tf.Tensor, found: Reconstruction, task: str, mask: str
) -> dict[str, Any]:
    """Errors where an image was unknown: in the hole, or everywhere."""
    if task == "whole":
        return {}
    gaps = (np.clip(found.x, -1, 1) - np.asarray(x)) ** 2
    if task == "inpaint":
        gaps = gaps[:, _mask(mask, x.shape[1])[..., 0] == 0]
    mse = float(np.mean(gaps))
    psnr = 10 * np.log10(4.0 / max(mse, 1e-12))
    return {"mse_unknown": mse, "psnr_unknown": float(psnr)}


def _untrained(
    model: Generator, x: tf.Tensor, settings: dict[str, Any]
) -> dict[str, Any]:
    """The error of the same network with new weights, on a batch."""
    x = x[:_BATCH]
    found = model.untrained().reconstruct(x, **settings).x
    error = np.mean((found - x) ** 2)
    return {"mse_untrained": float(error), "n_untrained": len(x)}


def _draw(
    path: pathlib.Path,
    x: tf.Tensor,
    found: Reconstruction,
    labels: list[str],
    known: tf.Tensor | None,
) -> None:
    """A row per image: the frames, the image and what was known of it."""
    columns = {"observed": x}
    if known is not None:
        columns["known"] = known
    rows = [*found.frames, *map(np.asarray, columns.values())]
    table = np.stack([row[:_SHOWN] for row in rows], axis=1)
    plots.save_table(path, table, [*labels, *columns])

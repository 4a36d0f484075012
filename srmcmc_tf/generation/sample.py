"""Samples of a run: arrays, pictures, traces of chains, tables over K."""

import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from srmcmc_tf import plots
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, digests, npz
from srmcmc_tf.generation import SEEDS, chain_cost, informed, sample_file
from srmcmc_tf.generation.images import images_of
from srmcmc_tf.generation.labels import Labels, pairs
from srmcmc_tf.generation.nearest import Nearest
from srmcmc_tf.generation.nearest import nearest as compare_with_nearest
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.runs.run import Run
from srmcmc_tf.runs.source import Source


class Samples(NamedTuple):
    """What `sample` wrote.

    Attributes:
        file: npz of the arrays `x`, `z` and `seeds`, and `labels` of a
            conditional model.
        picture: a grid of the first images, a row per class if there are
            classes; or a plot of all points.
        steps: the steps of the trace; none without one.
        trace: picture of some chains at these steps, and their animation.
        singles: a PNG per sample, if they were asked for.
        cost: what a chain costs; None for a model without one.
        informed: if chains start from images, what became of these.
        nearest: how far samples are from training images, if asked for.
    """

    file: pathlib.Path
    picture: pathlib.Path
    steps: list[int]
    trace: tuple[pathlib.Path, ...]
    singles: list[pathlib.Path]
    cost: chain_cost.Cost | None
    informed: informed.Informed | None
    nearest: Nearest | None


class Table(NamedTuple):
    """What `table` measured and wrote.

    Attributes:
        picture: a row per seed and a column per K.
        seeds: the number of seeds in it.
        outside: the share of values outside [-1, 1], by K.
    """

    picture: pathlib.Path
    seeds: int
    outside: dict[int, float]


def sample(
    source: Source,
    *,
    seeds: Sequence[int] = SEEDS,
    out: atomic.PathLike | None = None,
    best: bool = False,
    K: int | None = None,
    deterministic: bool = False,
    trace: bool = False,
    singles: bool = False,
    nearest: bool = False,
    images: str | None = None,
    labels: Labels | None = None,
) -> Samples:
    """Draws samples of a model. The same seed gives the same sample.

    Args:
        source: a trained run, or a model file.
        seeds: integers [n].
        out: directory to write to, by default the source's.
        best: uses the best checkpoint, not the newest.
        K: steps of a chain, by default as in training.
        deterministic: runs the chains without noise.
        trace: also draws the chains of the first seeds at several steps.
        singles: also writes each sample as a PNG.
        nearest: also compares samples with the nearest training images.
        images: a directory of images to start from (seed i from image i mod
            n), for a model whose chains start from images; by default those
            of the run.
        labels: classes of a conditional model, numbers or names: all seeds are
            drawn for each. By default a seed has the class seed mod the number
            of classes.
    """
    model = source.load_model(best=best)
    _set_images(source, model, images)
    seeds, y = pairs(source, model, seeds, labels)
    directory = source.output_directory(out)
    chain: dict[str, Any] = {}
    if source.kind.has_chain:
        noise = 0.0 if deterministic else None
        chain = {"K": model.K if K is None else K, "noise": noise}
    file = directory / "samples.npz"
    _write(file, model, seeds, y, chain)
    arrays = npz.read(file)
    x, z = arrays["x"], arrays["z"]
    picture = _draw(x, y, directory)
    steps = _steps(chain["K"]) if trace else []
    return Samples(
        file,
        picture,
        steps,
        _trace(model, seeds, y, steps, chain["noise"], directory)
        if trace
        else (),
        _singles(x, seeds, y, directory) if singles else [],
        chain_cost.measure(model, seeds, y, **chain) if chain else None,
        informed.report(model, *_images(model, seeds), z, x, directory)
        if getattr(model, "needs_images", False)
        else None,
        compare_with_nearest(source, x, directory) if nearest else None,
    )


def table(
    source: Source,
    *,
    K: Sequence[int],
    seeds: Sequence[int] = SEEDS,
    out: atomic.PathLike | None = None,
    best: bool = False,
    deterministic: bool = False,
    images: str | None = None,
    labels: Labels | None = None,
) -> Table:
    """Draws the same chains after several numbers of steps.

    Args:
        source: a trained run, or a model file, whose model has a chain.
        K: increasing numbers of steps.
        seeds: integers [n]; of images, the first 16 are drawn.
        out, best, deterministic, images, labels: as for `sample`.
    """
    if list(K) != sorted(set(K)):
        raise UserError(f"--K={list(K)}: must increase")
    model = source.load_model(best=best)
    _set_images(source, model, images)
    directory = source.output_directory(out)
    points = len(model.image_shape) != 3
    most = None if points else 16
    noise = 0.0 if deterministic else None
    seeds, y = pairs(source, model, seeds, labels)
    rows = seeds[:most]
    x = model.trace(rows, K, noise=noise, labels=y and y[:most]).numpy()
    shares = (np.abs(x) > 1).mean(axis=(0, *range(2, x.ndim)))
    outside = dict(zip(K, map(float, shares), strict=True))
    heads = [f"K={steps}\n{share:.1%}" for steps, share in outside.items()]
    picture = directory / "K.png"
    if points:
        plots.save(picture, plots.points(x.swapaxes(0, 1), heads))
    else:
        plots.save_table(picture, x, heads)
    return Table(picture, len(rows), outside)


def _set_images(source: Source, model: Generator, folder: str | None) -> None:
    """Sets the images that chains start from, if they do."""
    needed = getattr(model, "needs_images", False)
    if folder and not needed:
        raise UserError(
            f"--images: the chains of {source} do not start from images"
        )
    if folder or needed and not isinstance(source, Run):
        found = images_of(source, model.image_shape, folder, 10**9)
        model.starting.images = found


def _images(
    model: ShortRunEBM, seeds: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """The whole images that chains start from, and the number of each."""
    found = model.starting.images
    found = found() if callable(found) else found
    which = np.array(seeds) % len(found)
    return pixels.to_float(found[which]).numpy(), which


def _write(
    path: pathlib.Path,
    model: Generator,
    seeds: list[int],
    y: list[int] | None,
    chain: dict,
) -> None:
    batch = min(sample_file.BATCH, len(seeds))

    def draw(
        some: list[int], *labels: list[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        # Always whole batches: a shorter one would be traced again.
        rest = [0] * (batch - len(some))
        options = {**chain, "labels": labels[0] + rest} if labels else chain
        x = model.sample(some + rest, **options)[: len(some)]
        return x.numpy(), model.start(some).numpy()

    shape = model.image_shape
    sample_file.write(
        path,
        draw,
        seeds,
        y,
        shape=shape,
        z_shape=tuple(model.start([0]).shape[1:]),
        request={
            **chain,
            **_start_of(model),
            "weights": digests.of_weights(model),
            "shape": shape,
        },
    )


def _start_of(model: Generator) -> dict[str, Any]:
    """What names the images that chains start from, if they do."""
    if not getattr(model, "needs_images", False):
        return {}
    found = model.starting.images
    found = found() if callable(found) else found
    return {"images": digests.of_array(found)}


def _draw(
    x: np.ndarray, y: list[int] | None, directory: pathlib.Path
) -> pathlib.Path:
    if x.ndim == 2:
        path = directory / "points.png"
        plots.save(path, plots.points(x[None], [f"{len(x):,} samples"]))
    else:
        path = directory / "grid.png"
        x, columns = x[:256], None
        if y is not None:
            x, columns = plots.rows_by_label(x, y[:256])
        plots.save_grid(path, x, columns)
    return path


def _steps(K: int) -> list[int]:
    return sorted({*range(0, K, 10 if K >= 20 else 1), K})


def _trace(
    model: Generator,
    seeds: list[int],
    y: list[int] | None,
    steps: list[int],
    noise: float | None,
    directory: pathlib.Path,
) -> tuple[pathlib.Path, pathlib.Path]:
    strip, animation = directory / "trace.png", directory / "trace.gif"
    x = model.trace(seeds[:8], steps, noise=noise, labels=y and y[:8]).numpy()
    x = x.reshape(-1, *x.shape[2:])
    plots.save_grid(strip, x, columns=len(steps), width=1024)
    options = dict(noise=noise, labels=y and y[:64])
    frames = model.trace(seeds[:64], steps, **options).numpy()
    plots.save_animation(animation, frames.swapaxes(0, 1))
    return strip, animation


def _singles(
    x: np.ndarray,
    seeds: list[int],
    y: list[int] | None,
    directory: pathlib.Path,
) -> list[pathlib.Path]:
    names = [f"seed_{seed:06d}" for seed in seeds]
    if y is not None:
        names = [f"{name}_label_{n}" for name, n in zip(names, y, strict=True)]
    paths = [directory / f"{name}.png" for name in names]
    for path, image in zip(paths, x, strict=True):
        plots.save_grid(path, image[None], width=1)
    return paths

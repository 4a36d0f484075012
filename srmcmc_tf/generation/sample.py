"""Samples of a run: arrays, pictures, traces of chains, tables over K."""

import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from srmcmc_tf import plots
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, digests, npz
from srmcmc_tf.generation import SEEDS, informed, sample_file
from srmcmc_tf.generation.images import images_of
from srmcmc_tf.generation.nearest import Nearest
from srmcmc_tf.generation.nearest import nearest as compare_with_nearest
from srmcmc_tf.models import scales
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.runs.run import Run
from srmcmc_tf.runs.source import Source
from srmcmc_tf.sampling import rng


class Cost(NamedTuple):
    """What a chain costs, on average over the first seeds.

    Attributes:
        steps: made by a chain.
        spread: standard deviation of `steps`.
        evaluations: of the gradient f'.
    """

    steps: float
    spread: float
    evaluations: float


class Samples(NamedTuple):
    """What `sample` wrote.

    Attributes:
        file: npz of the arrays `x`, `z` and `seeds`.
        picture: a grid of the first images, or a plot of all points.
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
    cost: Cost | None
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
    """
    model = source.load_model(best=best)
    _set_images(source, model, images)
    directory = source.output_directory(out)
    seeds = list(seeds)
    chain: dict[str, Any] = {}
    if source.kind.has_chain:
        noise = 0.0 if deterministic else None
        chain = {"K": model.K if K is None else K, "noise": noise}
    file = directory / "samples.npz"
    _write(file, model, seeds, chain)
    arrays = npz.read(file)
    x, z = arrays["x"], arrays["z"]
    picture = _draw(x, directory)
    steps = _steps(chain["K"]) if trace else []
    return Samples(
        file,
        picture,
        steps,
        _trace(model, seeds, steps, chain["noise"], directory) if trace else (),
        _singles(x, seeds, directory) if singles else [],
        _cost(model, seeds, chain) if chain else None,
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
) -> Table:
    """Draws the same chains after several numbers of steps.

    Args:
        source: a trained run, or a model file, whose model has a chain.
        K: increasing numbers of steps.
        seeds: integers [n]; of images, the first 16 are drawn.
        out, best, deterministic, images: as for `sample`.
    """
    if list(K) != sorted(set(K)):
        raise UserError(f"--K={list(K)}: must increase")
    model = source.load_model(best=best)
    _set_images(source, model, images)
    directory = source.output_directory(out)
    points = len(model.image_shape) != 3
    rows = list(seeds) if points else list(seeds)[:16]
    noise = 0.0 if deterministic else None
    x = model.trace(rows, K, noise=noise).numpy()
    shares = (np.abs(x) > 1).mean(axis=(0, *range(2, x.ndim)))
    outside = dict(zip(K, map(float, shares), strict=True))
    labels = [f"K={steps}\n{share:.1%}" for steps, share in outside.items()]
    picture = directory / "K.png"
    if points:
        plots.save(picture, plots.points(x.swapaxes(0, 1), labels))
    else:
        plots.save_table(picture, x, labels)
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


def _cost(model: ShortRunEBM, seeds: list[int], chain: dict) -> Cost:
    if all(stage.stop.rule == "K" for stage in model.stages):
        K = chain["K"]
        return Cost(K, 0.0, K * model.stages[-1].kernel.evaluations)
    some = seeds[: sample_file.BATCH]
    stages, each = model.stages, [stage.K for stage in model.stages]
    starts = scales.split(model.start(some), [s.image_shape for s in stages])
    streams = model.with_streams(rng.stream_per_row(some))
    x, steps, cost = None, 0, 0
    for i, (stage, own) in enumerate(streams):
        K = scales.steps_within(i, chain["K"], each)
        x = stage.begin(starts[i], x, K > 0)
        ran = stage.run(x, own, K=K, noise=chain["noise"])
        x, steps, cost = ran.x, steps + ran.steps, cost + ran.evaluations
    counts = [np.asarray(n, float) for n in (steps, cost)]
    return Cost(counts[0].mean(), counts[0].std(), counts[1].mean())


def _write(
    path: pathlib.Path, model: Generator, seeds: list[int], chain: dict
) -> None:
    batch = min(sample_file.BATCH, len(seeds))

    def draw(some: list[int]) -> tuple[np.ndarray, np.ndarray]:
        # Always whole batches: a shorter one would be traced again.
        padded = some + [0] * (batch - len(some))
        x = model.sample(padded, **chain)[: len(some)]
        return x.numpy(), model.start(some).numpy()

    shape = model.image_shape
    sample_file.write(
        path,
        draw,
        seeds,
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


def _draw(x: np.ndarray, directory: pathlib.Path) -> pathlib.Path:
    if x.ndim == 2:
        path = directory / "points.png"
        plots.save(path, plots.points(x[None], [f"{len(x):,} samples"]))
    else:
        path = directory / "grid.png"
        plots.save_grid(path, x[:256])
    return path


def _steps(K: int) -> list[int]:
    return sorted({*range(0, K, 10 if K >= 20 else 1), K})


def _trace(
    model: Generator,
    seeds: list[int],
    steps: list[int],
    noise: float | None,
    directory: pathlib.Path,
) -> tuple[pathlib.Path, pathlib.Path]:
    strip, animation = directory / "trace.png", directory / "trace.gif"
    x = model.trace(seeds[:8], steps, noise=noise).numpy()
    x = x.reshape(-1, *x.shape[2:])
    plots.save_grid(strip, x, columns=len(steps), width=1024)
    frames = model.trace(seeds[:64], steps, noise=noise).numpy()
    plots.save_animation(animation, frames.swapaxes(0, 1))
    return strip, animation


def _singles(
    x: np.ndarray, seeds: list[int], directory: pathlib.Path
) -> list[pathlib.Path]:
    paths = [directory / f"seed_{seed:06d}.png" for seed in seeds]
    for path, image in zip(paths, x, strict=True):
        plots.save_grid(path, image[None], width=1)
    return paths

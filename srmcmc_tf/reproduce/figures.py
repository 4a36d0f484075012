"""The pictures of the paper's figures, drawn from a trained run.

Each function writes to a directory and returns the pictures of the report.
TensorFlow is imported when they are called: bin/reproduce lists its
experiments without it.
"""

import pathlib
from collections.abc import Callable

from srmcmc_tf.files import atomic
from srmcmc_tf.runs.run import Run

Draw = Callable[[Run, pathlib.Path], list[pathlib.Path]]


def samples(run: Run, out: pathlib.Path) -> list[pathlib.Path]:
    """Draws a grid of 64 samples."""
    from srmcmc_tf.generation import sample

    return [sample.sample(run, out=out).picture]


def trace(run: Run, out: pathlib.Path) -> list[pathlib.Path]:
    """Draws samples, and some of their chains at several steps."""
    from srmcmc_tf.generation import sample

    drawn = sample.sample(run, out=out, trace=True)
    return [drawn.picture, drawn.trace[0]]


def steps(run: Run, out: pathlib.Path) -> list[pathlib.Path]:
    """Draws samples after up to twice the steps of the training."""
    from srmcmc_tf.generation import sample

    K = run.config.K
    Ks = [*range(0, 2 * K, -(-K // 5)), 2 * K]
    return [sample.table(run, seeds=range(8), K=Ks, out=out).picture]


def interpolation(run: Run, out: pathlib.Path) -> list[pathlib.Path]:
    """Draws interpolations between pairs of samples."""
    from srmcmc_tf.generation import interpolate

    return [interpolate.interpolate(run, out=out).picture]


def reconstruction(run: Run, out: pathlib.Path) -> list[pathlib.Path]:
    """Draws reconstructions of 8 left-out examples."""
    from srmcmc_tf.generation import reconstruct

    return [reconstruct.reconstruct(run, n=8, out=out).picture]


def last_picture(run: Run, out: pathlib.Path) -> list[pathlib.Path]:
    """Copies the last picture of the training."""
    out.mkdir(parents=True, exist_ok=True)
    picture = out / "picture.png"
    atomic.write_bytes(picture, run.pictures()[-1].read_bytes())
    return [picture]

"""A file of many samples: streamed, resumable, with constant memory."""

import json
import pathlib
import shutil
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
from tqdm import tqdm

from srmcmc_tf.files import atomic, digests

BATCH = 64


def write(
    path: pathlib.Path,
    draw: Callable[[list[int]], tuple[np.ndarray, np.ndarray]],
    seeds: list[int],
    *,
    shape: tuple[int, ...],
    z_shape: tuple[int, ...],
    request: dict[str, Any],
    batch: int = BATCH,
) -> None:
    """Writes an npz batch by batch; an interrupted call is resumed.

    Args:
        path: the npz: `x`, float32 [n, *shape], `z` [n, *z_shape] and `seeds`.
        draw: seeds [b] to a pair x, z of arrays of b rows.
        seeds: integers [n].
        shape: shape of a sample.
        z_shape: shape of a z.
        request: identifies what is drawn. The partial result of another
            request is deleted.
        batch: samples at once.
    """
    digest = digests.of_text(json.dumps([request, seeds]), 12)
    part = path.with_suffix(f".part-{digest}")
    for other in path.parent.glob(f"{path.stem}.part-*"):
        if other != part:
            shutil.rmtree(other)
    part.mkdir(parents=True, exist_ok=True)
    arrays = [
        _open(part / f"{name}.npy", (len(seeds), *sizes))
        for name, sizes in (("x", shape), ("z", z_shape))
    ]
    progress = part / "done"
    done = int(progress.read_text() or 0) if progress.exists() else 0
    bar = tqdm(total=len(seeds), initial=done, unit=" samples", delay=2)
    while done < len(seeds):
        some = seeds[done : done + batch]
        for array, values in zip(arrays, draw(some), strict=True):
            array[done : done + len(some)] = values
            array.flush()
        done += len(some)
        atomic.write_text(progress, str(done))
        bar.update(len(some))
    bar.close()
    np.save(part / "seeds.npy", np.asarray(seeds, np.int64))
    with atomic.writer(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name in ("x", "z", "seeds"):
            archive.write(part / f"{name}.npy", f"{name}.npy")
    shutil.rmtree(part)


def _open(path: pathlib.Path, shape: tuple[int, ...]) -> np.memmap:
    mode = "r+" if path.exists() else "w+"
    return np.lib.format.open_memmap(path, mode, np.float32, shape)

"""Many samples on the disk: streamed, resumable, with constant memory."""

import hashlib
import json
import pathlib
import shutil
import zipfile

import numpy as np
from tqdm import tqdm


def write(path, draw, seeds, shape, request, batch=64, z_shape=None):
    """Fills `samples.npz` batch by batch; goes on where it was interrupted.

    Args:
        path: the npz to write: `x`, float32 [n, *shape], `z` and `seeds`.
        draw: seeds [b] to a pair x, z of arrays of b rows.
        seeds: integers [n].
        shape: shape of one sample.
        request: a dictionary that names what is drawn; a part that was left by
            another request is thrown away.
        batch: samples at once.
        z_shape: shape of one z, by default that of a sample.
    """
    path = pathlib.Path(path)
    name = json.dumps([request, seeds]).encode()
    part = path.with_suffix(f".part-{hashlib.sha256(name).hexdigest()[:12]}")
    for other in path.parent.glob(f"{path.stem}.part-*"):
        if other != part:
            shutil.rmtree(other)
    part.mkdir(parents=True, exist_ok=True)
    shapes = {"x": shape, "z": shape if z_shape is None else z_shape}
    arrays = [
        _open(part / f"{name}.npy", (len(seeds), *one))
        for name, one in shapes.items()
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
        progress.write_text(str(done))
        bar.update(len(some))
    bar.close()
    np.save(part / "seeds.npy", np.asarray(seeds, np.int64))
    temporary = path.with_suffix(".npz.tmp")
    with zipfile.ZipFile(temporary, "w") as archive:
        for n in ("x", "z", "seeds"):
            archive.write(part / f"{n}.npy", f"{n}.npy")
    temporary.replace(path)
    shutil.rmtree(part)


def _open(path, shape):
    mode = "r+" if path.exists() else "w+"
    return np.lib.format.open_memmap(path, mode, np.float32, shape)

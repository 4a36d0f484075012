"""A file of many samples: streamed, resumable, with constant memory.

What is drawn is appended, batch by batch, to a hidden part file beside the
result, and copied to the result at the end. Each batch has a checksum: what a
killed process or a full disk left incomplete is drawn again.
"""

import contextlib
import fcntl
import glob
import hashlib
import json
import math
import pathlib
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np
from tqdm import tqdm

from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.files import atomic, digests

BATCH = 64

_SUFFIX = ".srmcmc-part"
_MAGIC = b"srmcmc_tf samples 1 "
_CHECKSUM = hashlib.sha256().digest_size


def write(
    path: pathlib.Path,
    draw: Callable[..., tuple[np.ndarray, np.ndarray]],
    seeds: list[int],
    labels: list[int] | None = None,
    *,
    shape: tuple[int, ...],
    z_shape: tuple[int, ...],
    request: dict[str, Any],
    batch: int = BATCH,
) -> None:
    """Writes an npz batch by batch; an interrupted call is resumed.

    Args:
        path: the npz: `x`, float32 [n, *shape], `z` [n, *z_shape], `seeds`,
            and `labels` if there are any.
        draw: seeds [b], and their labels if there are any, to a pair x, z of
            arrays of b rows.
        seeds: integers [n].
        labels: integers [n], the classes of samples of a conditional model.
        shape: shape of a sample.
        z_shape: shape of a z.
        request: identifies what is drawn. The part file of another request is
            deleted, unless another process is using it.
        batch: samples at once.
    """
    named = [request, seeds, batch, shape, z_shape]
    identity = digests.of_text(json.dumps(named + [labels] * bool(labels)))
    _delete_others(path, identity)
    rows = [len(seeds[i : i + batch]) for i in range(0, len(seeds), batch)]
    with _Part(path, identity, rows, (shape, z_shape)) as part:
        done = sum(rows[: part.done])
        bar = tqdm(total=len(seeds), initial=done, unit=" samples", delay=2)
        with bar:
            while part.done < len(rows):
                first = part.done * batch
                some, *own = (
                    numbers[first : first + batch]
                    for numbers in (seeds, labels)
                    if numbers is not None
                )
                part.append(*_checked(draw(some, *own), some))
                bar.update(len(some))
        with atomic.writer(path) as file, zipfile.ZipFile(file, "w") as archive:
            _add(archive, "x", (len(seeds), *shape), part.read(0))
            _add(archive, "z", (len(seeds), *z_shape), part.read(1))
            for name, numbers in (("seeds", seeds), ("labels", labels)):
                if numbers is not None:
                    array = np.asarray(numbers, "<i8")
                    _add(archive, name, array.shape, [array])
        part.path.unlink()


class _Part:
    """The part file: a line that identifies it, then the batches.

    A batch is its checksum, then its x and its z.

    Args:
        path: of the result.
        identity: of what is drawn.
        rows: the number of samples of each batch.
        shapes: of a sample and of its z.

    Attributes:
        done: the number of complete batches.
    """

    def __init__(
        self,
        path: pathlib.Path,
        identity: str,
        rows: list[int],
        shapes: tuple[tuple[int, ...], tuple[int, ...]],
    ) -> None:
        self.path = _part_path(path, identity)
        self.header = _MAGIC + identity.encode() + b"\n"
        self.rows = rows
        self.shapes = shapes
        self.done = 0

    def __enter__(self) -> "_Part":
        self._file: BinaryIO = open(self.path, "a+b", opener=atomic.open_own)
        try:
            self._lock()
            self._resume()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        # All that counts was flushed: on a full disk the rest never will be.
        with contextlib.suppress(OSError):
            self._file.close()

    def append(self, x: np.ndarray, z: np.ndarray) -> None:
        content = x.tobytes() + z.tobytes()
        try:
            self._file.write(self._checksum(self.done, content) + content)
            self._file.flush()
        except OSError as error:
            raise UserError(
                f"cannot write {self.path} ({error.strerror}); free disk space "
                "and repeat the command: it resumes where it stopped"
            ) from None
        self.done += 1

    def read(self, which: int) -> Iterator[np.ndarray]:
        """Yields the x (0) or the z (1) of each batch, in order."""
        self._file.seek(len(self.header))
        for number, rows in enumerate(self.rows):
            content = self._batch(number)
            if content is None:
                raise UserError(
                    f"{self.path} was changed by another program; repeat the "
                    "command"
                )
            first = 4 * rows * math.prod(self.shapes[0])
            part = content[first:] if which else content[:first]
            yield np.frombuffer(part, "<f4")

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another process is drawing the same samples, to {self.path}"
            ) from None

    def _resume(self) -> None:
        """Finds the complete batches, and cuts off what follows them."""
        self._file.seek(0)
        if self._file.read(len(self.header)) != self.header:
            self._file.truncate(0)
            self._file.write(self.header)
            self._file.flush()
        end = self._file.seek(len(self.header))
        while self.done < len(self.rows) and self._batch(self.done) is not None:
            self.done += 1
            end = self._file.tell()
        self._file.truncate(end)

    def _batch(self, number: int) -> bytes | None:
        """The content of the batch at the file's position; None if damaged."""
        sizes = sum(math.prod(shape) for shape in self.shapes)
        size = 4 * self.rows[number] * sizes
        checksum = self._file.read(_CHECKSUM)
        content = self._file.read(size)
        good = len(content) == size
        good = good and checksum == self._checksum(number, content)
        return content if good else None

    def _checksum(self, number: int, content: bytes) -> bytes:
        return hashlib.sha256(self.header + b"%d " % number + content).digest()


def _checked(
    arrays: tuple[np.ndarray, np.ndarray], seeds: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    x, z = (np.ascontiguousarray(array, "<f4") for array in arrays)
    bad = ~np.isfinite(x.reshape(len(seeds), -1)).all(axis=1)
    if bad.any():
        raise NonFiniteError(
            f"the sample of seed {seeds[int(bad.argmax())]} is not finite: the "
            "chain diverges; use another checkpoint, or a smaller K"
        )
    return x, z


def _add(
    archive: zipfile.ZipFile,
    name: str,
    shape: tuple[int, ...],
    parts: Iterator[np.ndarray] | list[np.ndarray],
) -> None:
    """Adds an array to an npz, part by part."""
    parts = iter(parts)
    first = next(parts)
    header = {
        "descr": np.lib.format.dtype_to_descr(first.dtype),
        "fortran_order": False,
        "shape": shape,
    }
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(first.tobytes())
        for part in parts:
            file.write(part.tobytes())


def _part_path(path: pathlib.Path, identity: str) -> pathlib.Path:
    return path.with_name(f".{path.name}.{identity[:16]}{_SUFFIX}")


def _delete_others(path: pathlib.Path, identity: str) -> None:
    """Deletes part files of other requests: ours by name and content."""
    own = _part_path(path, identity)
    pattern = f".{glob.escape(path.name)}.{'[0-9a-f]' * 16}{_SUFFIX}"
    for other in path.parent.glob(pattern):
        if other == own or other.is_symlink() or not other.is_file():
            continue
        with open(other, "rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                continue
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            other.unlink()

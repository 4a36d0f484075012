"""Named arrays in an npz that is complete or absent.

NumPy's reader trusts what a file says of itself. This one checks sizes before
it allocates, and turns every kind of damage into a `ValueError` of one line.
"""

import io
import logging
import math
import pathlib
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from srmcmc_tf.files import atomic, paths

logger = logging.getLogger(__name__)

# An archive may claim this many bytes, or 100 per byte of the file: what
# deflate makes of more is no data.
_ALWAYS_ALLOWED = 2**30
_RATIO = 100
_CHUNK = 2**22


def load(path: pathlib.Path) -> dict[str, np.ndarray] | None:
    """The arrays of an npz by name; None if it is missing or damaged."""
    try:
        return read(path)
    except ValueError:
        return None


def load_shaped(
    path: pathlib.Path, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, np.ndarray] | None:
    """The arrays of a cached npz; None unless they are the expected ones.

    Args:
        path: the file.
        shapes: of all arrays that it must hold, by name; they must be numbers
            that are finite.
    """
    arrays = load(path)
    if arrays is None or {n: a.shape for n, a in arrays.items()} != shapes:
        return None
    numbers = all(a.dtype.kind in "iuf" for a in arrays.values())
    if not numbers or not all(np.isfinite(a).all() for a in arrays.values()):
        return None
    return arrays


def read(file: pathlib.Path | IO[bytes]) -> dict[str, np.ndarray]:
    """The arrays of an npz by name.

    Args:
        file: its path, or a seekable binary file.

    Raises:
        ValueError: if it is damaged, encrypted or no npz; one line without the
            file's name.
    """
    with Archive(file) as archive:
        return {name: archive.read(name) for name in archive.names}


def save(path: pathlib.Path, arrays: Mapping[str, Any]) -> None:
    """Writes arrays as an npz, atomically; creates the directory if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic.writer(path) as file:
        np.savez(file, **arrays)


def save_to_cache(path: pathlib.Path, arrays: Mapping[str, Any]) -> None:
    """Writes what can be made again: a failure only costs time later."""
    try:
        save(path, arrays)
    except OSError as error:
        reason = error.strerror or str(error)
        logger.info("could not cache %s: %s", paths.shown(path), reason)


class Archive:
    """An open npz, to read its arrays one by one or in parts.

    Args:
        file: its path, or a seekable binary file.

    Attributes:
        names: of the arrays.

    Raises:
        ValueError: here and in all methods, if the file is not a sound npz.
    """

    def __init__(self, file: pathlib.Path | IO[bytes]) -> None:
        with _one_line():
            self._file = _regular(file)
            try:
                size = self._file.seek(0, io.SEEK_END)
                self._zip = zipfile.ZipFile(self._file)
                claimed = sum(m.file_size for m in self._zip.infolist())
                if claimed > max(_ALWAYS_ALLOWED, _RATIO * size):
                    raise ValueError(
                        f"{size:,} bytes that claim to be {claimed:,}"
                    )
            except BaseException:
                self._file.close()
                raise
        self._members = {
            member.filename.removesuffix(".npy"): member
            for member in self._zip.infolist()
        }
        self.names = list(self._members)

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *args: object) -> None:
        self._zip.close()
        self._file.close()

    def header(self, name: str) -> tuple[tuple[int, ...], np.dtype]:
        """The shape and the type of an array."""
        with _one_line(), self._open(name) as file:
            shape, _, dtype = _header(file, self._members[name].file_size)
            return shape, dtype

    def read(self, name: str) -> np.ndarray:
        """A whole array."""
        with _one_line(), self._open(name) as file:
            header = _header(file, self._members[name].file_size)
            shape, fortran, dtype = header
            array = np.empty(math.prod(shape), dtype)
            content, done = array.view(np.uint8), 0
            for part in _parts(file, array.nbytes):
                content[done : done + len(part)] = np.frombuffer(part, np.uint8)
                done += len(part)
            return array.reshape(shape, order="F" if fortran else "C")

    def rows(self, name: str, n: int) -> Iterator[np.ndarray]:
        """The array in parts of `n` rows, the last one shorter."""
        with _one_line(), self._open(name) as file:
            header = _header(file, self._members[name].file_size)
            shape, fortran, dtype = header
            if fortran:
                raise ValueError("the array is in Fortran order")
            for i in range(0, shape[0], n):
                part = (min(n, shape[0] - i), *shape[1:])
                size = math.prod(part) * dtype.itemsize
                content = b"".join(_parts(file, size))
                yield np.frombuffer(content, dtype).reshape(part)

    def _open(self, name: str) -> IO[bytes]:
        member = self._members[name]
        if member.flag_bits & 1:
            raise ValueError("it is encrypted")
        return self._zip.open(member)


class _one_line:
    """Turns every error into a `ValueError` of one line."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, _: Any) -> None:
        # Damaged archives raise nearly everything, also MemoryError.
        if isinstance(error, Exception):
            reason = getattr(error, "strerror", None) or str(error)
            reason = " ".join((reason or repr(error)).split())[:200]
            raise ValueError(reason) from None


def _regular(file: pathlib.Path | IO[bytes]) -> IO[bytes]:
    if not isinstance(file, pathlib.Path):
        return file
    paths.regular(file)
    return open(file, "rb")


def _header(file: IO[bytes], size: int) -> tuple[tuple[int, ...], bool, Any]:
    """Shape, order and type of an npy that holds exactly `size` bytes."""
    major, minor = np.lib.format.read_magic(file)
    width = 2 if (major, minor) == (1, 0) else 4
    prefix = file.read(width)
    length = int.from_bytes(prefix, "little")
    if len(prefix) < width or length > 10_000:
        raise ValueError("an array without a valid header")
    text = io.BytesIO(prefix + file.read(length))
    reader = np.lib.format.read_array_header_1_0
    if width == 4:
        reader = np.lib.format.read_array_header_2_0
    shape, fortran, dtype = reader(text)
    if dtype.hasobject or not dtype.itemsize or min(shape, default=0) < 0:
        raise ValueError(f"an array {shape} of {dtype}, which is not allowed")
    claimed = math.prod(shape) * dtype.itemsize + 8 + width + length
    if claimed != size:
        raise ValueError(f"an array of {size:,} bytes claims {claimed:,}")
    return shape, fortran, dtype


def _parts(file: IO[bytes], size: int) -> Iterator[bytes]:
    """The next `size` bytes, in parts."""
    while size:
        part = file.read(min(size, _CHUNK))
        if not part:
            raise ValueError("it ends early")
        size -= len(part)
        yield part

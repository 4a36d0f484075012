"""Atomic writes: a file or a directory is complete under its name, or absent.

Each is written under a new hidden name beside its place, flushed to the disk
and renamed, so that neither a crash nor a full disk damages what was there.
"""

import contextlib
import contextvars
import errno
import json
import os
import pathlib
import secrets
import shutil
from collections.abc import Iterator
from typing import Any, BinaryIO

from srmcmc_tf.errors import NonFiniteError, UserError

PathLike = str | os.PathLike[str]

# Files of a `together` block, and the names that they will take.
_HELD: contextvars.ContextVar[
    list[tuple[pathlib.Path, pathlib.Path]] | None
] = contextvars.ContextVar("held", default=None)


@contextlib.contextmanager
def writer(path: PathLike) -> Iterator[BinaryIO]:
    """Opens a new binary file that replaces `path` when the block succeeds."""
    path = pathlib.Path(path)
    temporary = _temporary(path)
    # Exclusive and without following links: nobody else can have prepared it.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        with open(os.open(temporary, flags, 0o666), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        held = _HELD.get()
        if held is not None:
            held.append((temporary, path))
            return
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        own = (None, temporary, str(temporary))
        if isinstance(error, OSError) and error.filename in own:
            raise _named(error, path) from None
        raise
    sync(path.parent)


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Holds back the files that are written in the block until its end.

    They then replace the earlier ones; if the block fails, none does.
    """
    held: list[tuple[pathlib.Path, pathlib.Path]] = []
    token = _HELD.set(held)
    try:
        yield
        for temporary, path in held:
            try:
                os.replace(temporary, path)
            except OSError as error:
                raise _named(error, path) from None
            sync(path.parent)
    finally:
        _HELD.reset(token)
        for temporary, _ in held:
            temporary.unlink(missing_ok=True)


def open_own(path: str, flags: int) -> int:
    """Opener for `open` of a file that is appended to: follows no symlink."""
    try:
        return os.open(path, flags | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UserError(f"{path} is a symbolic link: remove it") from None
        raise


def write_bytes(path: PathLike, content: bytes) -> None:
    """Replaces the content of a file."""
    with writer(path) as file:
        file.write(content)


def write_text(path: PathLike, text: str) -> None:
    """Replaces the content of a file by text in UTF-8."""
    write_bytes(path, text.encode())


def write_json(path: PathLike, value: Any) -> None:
    """Replaces the content of a file by indented JSON.

    `NonFiniteError` where it has numbers that JSON lacks: NaN and infinity.
    """
    try:
        text = json.dumps(value, indent=2, allow_nan=False)
    except ValueError:
        raise NonFiniteError(
            f"{path} was not written: a value of it is not finite"
        ) from None
    write_text(path, text + "\n")


@contextlib.contextmanager
def directory(path: PathLike) -> Iterator[pathlib.Path]:
    """Makes a new directory that takes the name `path` when the block succeeds.

    A directory that already has the name is replaced.
    """
    path = pathlib.Path(path)
    temporary = _temporary(path)
    try:
        temporary.mkdir(parents=True)
        yield temporary
        for entry in [*temporary.rglob("*"), temporary]:
            sync(entry)
        if path.exists():
            remove_directory(path)
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync(path.parent)


def remove_directory(path: PathLike) -> None:
    """Removes a directory, which is never incomplete under its name."""
    path = pathlib.Path(path)
    hidden = _temporary(path)
    os.rename(path, hidden)
    shutil.rmtree(hidden)


def remove_leftovers(folder: PathLike) -> None:
    """Removes what a killed process left half written or half removed.

    Call it only where no other process can be writing to `folder`.
    """
    for path in leftovers(folder):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def leftovers(folder: PathLike) -> list[pathlib.Path]:
    """The temporary files and directories of this module in a folder."""
    return list(pathlib.Path(folder).glob(f".*{_SUFFIX}"))


def sync(path: PathLike) -> None:
    """Waits until a file, or the entries of a directory, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_SUFFIX = ".srmcmc-tmp"


def _temporary(path: pathlib.Path) -> pathlib.Path:
    # Short, also where the name is as long as a name may be.
    name = path.name[:40]
    return path.with_name(f".{name}.{secrets.token_hex(8)}{_SUFFIX}")


def _named(error: OSError, path: pathlib.Path) -> OSError:
    """The same error with the name of the file, not of the temporary one."""
    return OSError(error.errno, error.strerror or str(error), str(path))

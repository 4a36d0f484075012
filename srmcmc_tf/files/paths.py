"""Paths that come from outside: what they are, and how to print them."""

import os
import pathlib
import stat

from srmcmc_tf.errors import UserError

PathLike = str | os.PathLike[str]


def regular(path: PathLike) -> os.stat_result:
    """The state of a regular file; of a pipe or device, reading may never end.

    Raises:
        ValueError: if it is something else.
        OSError: if there is no such file.
    """
    state = os.stat(path)
    if not stat.S_ISREG(state.st_mode):
        raise ValueError("not a regular file")
    return state


def shown(path: PathLike) -> str:
    """A path as one line of valid text, also where its name is not UTF-8."""
    text = os.fsencode(path).decode(errors="backslashreplace")
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode()
        for c in text
    )


def expanded(path: PathLike) -> pathlib.Path:
    """A path with `~` replaced; that of an unknown user is left as it is."""
    return pathlib.Path(os.path.expanduser(path))


def existing(path: PathLike) -> pathlib.Path:
    """A path with `~` replaced; `UserError` if there is nothing."""
    path = expanded(path)
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    return path


def home() -> pathlib.Path:
    """The home directory of the user; `UserError` where there is none.

    In a container, a user may have neither `HOME` nor an entry in the list of
    users.
    """
    try:
        return pathlib.Path.home()
    except RuntimeError:
        raise UserError(
            "the home directory is unknown: set HOME to one that exists"
        ) from None


def utf8(path: PathLike) -> pathlib.Path:
    """A path that TensorFlow can write to; `UserError` if it is not UTF-8."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        raise UserError(
            f"{shown(path)}: TensorFlow writes only to names in UTF-8; choose "
            "another directory"
        ) from None
    return pathlib.Path(path)


def number(name: str) -> int | None:
    """The whole number that something is named by, or None.

    `int` takes more, such as spaces and digits of other scripts.
    """
    digits = name.isascii() and name.isdigit() and len(name) <= 18
    return int(name) if digits else None


def stamp(path: PathLike) -> str:
    """Text that changes whenever a file is written, replaced or copied.

    The time of the inode's change is part of it: that of the content can be
    set to any value, as `cp -p` and `tar` do.
    """
    state = os.stat(path)
    return f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"

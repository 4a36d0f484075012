"""The logged quantities of a run, a line of JSON for each update.

Lines are appended, so a process that is killed may leave half of one at the
end: that one counts as never written. Any other line that cannot be read is
damage.
"""

import json
import logging
import math
import pathlib
import secrets
from collections.abc import Mapping
from typing import TextIO

from srmcmc_tf.errors import UserError, reason
from srmcmc_tf.files import atomic, json_file

logger = logging.getLogger(__name__)

Logged = dict[str, float]

# Null stands for a value that was not finite.
_SCHEMA = {"update": int, str: (float, type(None))}


def read(path: pathlib.Path) -> list[Logged]:
    """Returns the quantities of each logged update, in order.

    `UserError` where a line is damaged.
    """
    found = []
    for number, line in enumerate(_lines(path), 1):
        try:
            found.append(_parse(line))
        except ValueError as error:
            raise UserError(
                f"{path}, line {number}, is damaged ({reason(error)}); remove "
                "that line, or restore the file from a copy"
            ) from None
    return found


def resume(path: pathlib.Path, update: int) -> None:
    """Drops the lines after an update.

    Where some are damaged, the file is kept under another name, which a warning
    gives, and the run continues with the others.
    """
    if not path.exists():
        return
    kept, damaged = [], 0
    for line in _lines(path):
        try:
            if _parse(line)["update"] <= update:
                kept.append(line + b"\n")
        except ValueError:
            damaged += 1
    if damaged:
        copy = path.with_name(f"{path.name}.damaged-{secrets.token_hex(4)}")
        atomic.write_bytes(copy, path.read_bytes())
        logger.warning(
            "warning: %s has %d damaged lines, which are left out; the whole "
            "file is kept as %s",
            path,
            damaged,
            copy.name,
        )
    atomic.write_bytes(path, b"".join(kept))


def open_to_append(path: pathlib.Path) -> TextIO:
    """Opens the file for `append`, and creates it where it is missing."""
    return open(path, "a", buffering=1, opener=atomic.open_own)


def append(file: TextIO, update: int, logs: Mapping[str, float]) -> None:
    """Writes the quantities of an update; null where one is not finite."""
    finite = {n: x if math.isfinite(x) else None for n, x in logs.items()}
    file.write(json.dumps({"update": update, **finite}) + "\n")


def _lines(path: pathlib.Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1]


def _parse(line: bytes) -> Logged:
    return json_file.parse(line.decode(), _SCHEMA)

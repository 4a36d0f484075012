"""Downloads files: resumed where they broke off, complete or absent."""

import contextlib
import errno
import fcntl
import http.client
import os
import pathlib
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from tqdm import tqdm

from srmcmc_tf.files import atomic, digests

_CHUNK = 2**20
_TIMEOUT = 30
_PATIENCE = 5  # attempts in a row that bring nothing
_WAIT = 1.0  # seconds after the first of them; doubles with each


@contextlib.contextmanager
def exclusive(directory: pathlib.Path) -> Iterator[None]:
    """Makes other processes wait that want to download to a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def fetch(
    url: str,
    path: pathlib.Path,
    *,
    announce: Callable[[int, int], None] = lambda total, present: None,
    check: Callable[[pathlib.Path], None] = lambda file: None,
) -> None:
    """Downloads a file; does nothing if it is there already.

    What arrived is kept in a hidden file beside `path` and resumed by the next
    call, unless the file on the server is another one by then. The caller is
    `exclusive`.

    Args:
        url: of the file.
        path: its name here, which it gets when it is complete.
        announce: called with the size of the file, 0 if that is not known, and
            the bytes that are present, before the others are downloaded; may
            raise an error.
        check: called with the complete file before it gets its name; if it
            raises an error, the file is removed.

    Raises:
        OSError, http.client.HTTPException: if the download fails.
    """
    if path.exists():
        return
    failures, connected, announced = 0, False, False
    while True:
        part = _part(path)
        before = part.stat().st_size if part else 0
        try:
            with _request(url, before) as response:
                connected = True
                part, start, total = _place(response, path, part, before)
                if not announced:
                    announce(total, start)
                announced = True
                _receive(response, part, start, total)
            break
        except (OSError, http.client.HTTPException) as error:
            found = _part(path)
            grown = found is not None and found.stat().st_size > before
            failures = 0 if grown else failures + 1
            if not connected or failures >= _PATIENCE or _is_final(error):
                raise
            time.sleep(_WAIT * 2 ** max(failures - 1, 0))
    try:
        check(part)
    except BaseException:
        part.unlink()
        raise
    atomic.sync(part)
    os.replace(part, path)
    atomic.sync(path.parent)


def _part(path: pathlib.Path) -> pathlib.Path | None:
    """The file of what arrived so far."""
    return next(path.parent.glob(f".{path.name}.*.part"), None)


def _request(url: str, present: int) -> Any:
    request = urllib.request.Request(url)
    if present:
        # With the last byte that is present, so that some byte is left.
        request.add_header("Range", f"bytes={present - 1}-")
    try:
        return urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
    # Shorter than what is present: another file.
    return urllib.request.urlopen(url, timeout=_TIMEOUT)


def _place(
    response: Any, path: pathlib.Path, part: pathlib.Path | None, present: int
) -> tuple[pathlib.Path, int, int]:
    """Where the response belongs: the file, the offset, and the size of all."""
    headers = response.headers
    start, total = 0, int(headers.get("Content-Length") or 0)
    if getattr(response, "status", None) == http.HTTPStatus.PARTIAL_CONTENT:
        pattern = r"bytes (\d+)-\d+/(\d+)"
        found = re.fullmatch(pattern, headers.get("Content-Range", ""))
        if not found or int(found[1]) != present - 1:
            raise OSError("the server sent another part than was requested")
        start, total = present - 1, int(found[2])
    version = headers.get("ETag") or headers.get("Last-Modified")
    key = digests.of_text(f"{version} {total}", 16)
    name = path.with_name(f".{path.name}.{key}.part")
    if part and (part != name or not start):
        part.unlink()
        if start:
            raise OSError("the file on the server has changed")
    return name, start, total


def _receive(response: Any, part: pathlib.Path, start: int, total: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
    with (
        open(os.open(part, flags, 0o666), "wb") as file,
        tqdm(
            total=total or None,
            initial=start,
            desc=part.name.split(".")[1],
            unit="B",
            unit_scale=True,
        ) as bar,
    ):
        file.seek(start)
        while chunk := response.read(_CHUNK):
            file.write(chunk)
            bar.update(len(chunk))
        size = file.tell()
    if size < total:
        raise OSError(f"connection closed after {size:,} of {total:,} bytes")


def _is_final(error: Exception) -> bool:
    """Whether another attempt would fail as well."""
    if isinstance(error, urllib.error.HTTPError):
        return 400 <= error.code < 500 and error.code not in (408, 429)
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)

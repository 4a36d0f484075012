"""Digests: short names for contents, equal on every machine.

They name cached files and identify the weights and the data of runs: changing
one of these strings would orphan what is stored under it.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


def of_array(array: npt.ArrayLike) -> str:
    """16 hexadecimal digits for the contents of an array, such as images."""
    return _sha256([array])[:16]


def of_arrays(arrays: Mapping[str, npt.ArrayLike]) -> str:
    """8 hexadecimal digits for named arrays, in any order."""
    return _sha256(p for n in sorted(arrays) for p in (n, arrays[n]))[:8]


def of_weights(model: Any) -> str:
    """64 hexadecimal digits for the weights of a Keras model."""
    return _sha256(model.weights)


def of_text(text: str, length: int = 64) -> str:
    """`length` hexadecimal digits for a text."""
    return _sha256([text])[:length]


def of_file_parts(path: str | os.PathLike[str], n: int = 64) -> str:
    """16 hexadecimal digits for `n` parts of a file, spread over all of it.

    For files that are too large to be read as a whole whenever they are used:
    another one of the same size and date is noticed in milliseconds.
    """
    size, part = os.path.getsize(path), 4096
    last = max(size - part, 0)
    with open(path, "rb") as file:
        parts = []
        for i in range(n):
            file.seek(last * i // (n - 1))
            parts.append(np.frombuffer(file.read(part), np.uint8))
    return _sha256(parts)[:16]


def _sha256(parts: Iterable[Any]) -> str:
    sha = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):  # also names of files that are not UTF-8
            sha.update(part.encode(errors="surrogatepass"))
        else:
            sha.update(np.ascontiguousarray(part).data)
    return sha.hexdigest()

"""Digests: short names for contents, equal on every machine.

They name cached files and identify the weights and the data of runs: changing
one of these strings would orphan what is stored under it.
"""

import hashlib
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


def _sha256(parts: Iterable[Any]) -> str:
    sha = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):  # also names of files that are not UTF-8
            sha.update(part.encode(errors="surrogatepass"))
        else:
            sha.update(np.ascontiguousarray(part).data)
    return sha.hexdigest()

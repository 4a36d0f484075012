"""Named arrays in an npz that is complete or absent."""

import pathlib
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from srmcmc_tf.files import atomic

# What NumPy raises for a file that is damaged, truncated or not an npz.
DAMAGED = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error)


def load(path: pathlib.Path) -> dict[str, np.ndarray] | None:
    """The arrays of an npz by name; None if it is missing or damaged."""
    try:
        with np.load(path) as archive:
            return dict(archive)
    except DAMAGED:
        return None


def save(path: pathlib.Path, arrays: Mapping[str, Any]) -> None:
    """Writes arrays as an npz, atomically; creates the directory if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic.writer(path) as file:
        np.savez(file, **arrays)

"""Arrays on disk that are complete or not there, and may be made again."""

import os
import zipfile
import zlib

import numpy as np

# What NumPy raises for an npz that is damaged, cut off or none at all.
DAMAGED = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error)


def load(path):
    """The arrays of an npz, by name; None where there is no whole one."""
    try:
        with np.load(path) as archive:
            return dict(archive)
    except DAMAGED:
        return None


def save(path, arrays):
    """Writes arrays as an npz, under another name until it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            np.savez(file, **arrays)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise

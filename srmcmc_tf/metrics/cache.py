"""Arrays on disk that are complete or not there, and may be made again."""

import os
import zipfile

import numpy as np


def load(path):
    """The arrays of an npz, by name; None where there is no whole one."""
    try:
        with np.load(path) as archive:
            return dict(archive)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
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

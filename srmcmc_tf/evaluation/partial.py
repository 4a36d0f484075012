"""Saved state of interrupted computations, resumed only by the same request."""

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from srmcmc_tf.files import npz


def load(
    path: pathlib.Path | None, request: str
) -> dict[str, np.ndarray] | None:
    """The arrays saved for `request`; None if there are none.

    Args:
        path: of the file; None if nothing is saved.
        request: text that identifies what is computed.
    """
    arrays = npz.load(path) if path else None
    if arrays is None or str(arrays.get("request")) != request:
        return None
    return arrays


def save(path: pathlib.Path, request: str, arrays: Mapping[str, Any]) -> None:
    """Replaces the saved arrays."""
    npz.save_to_cache(path, {"request": request, **arrays})

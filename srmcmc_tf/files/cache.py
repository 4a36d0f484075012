"""The directory for what can be made or downloaded again."""

import os
import pathlib


def cache_dir():
    """Where things that can be made or fetched again are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "srmcmc_tf"

"""The directory for files that can be made or downloaded again."""

import os
import pathlib

from srmcmc_tf.files import paths


def cache_dir() -> pathlib.Path:
    """`$XDG_CACHE_HOME/srmcmc_tf`, by default in `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME") or paths.home() / ".cache"
    return pathlib.Path(base) / "srmcmc_tf"

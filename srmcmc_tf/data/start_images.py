"""The images that the chains of a run start from, where they start from any."""

import dataclasses
import os

import numpy as np

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples
from srmcmc_tf.data.examples import Examples
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import paths


def load(config: Config, found: Examples | None = None) -> np.ndarray | None:
    """Loads the images that chains start from; None if they need none.

    They are those of `--start_dir`, or examples that were left out: what is
    unknown of them is new to the model.

    Args:
        config: the settings.
        found: the examples of the config, if they were loaded.

    Returns:
        uint8 [n, h, w, c].
    """
    if config.start == "dataset":
        if not os.path.isdir(config.start_dir):
            raise UserError(
                f"--start_dir={paths.shown(config.start_dir)}: no such "
                "directory; put the images that chains start from there"
            )
        other = dataclasses.replace(
            config,
            dataset="folder",
            data_dir=config.start_dir,
            n_left_out=0,
            batch_size=1,  # several chains may start from one image
        )
        return examples.load(other).observed
    if config.start not in ("data", "degraded"):
        return None
    found = found or examples.load(config)
    return found.left_out if len(found.left_out) else found.observed

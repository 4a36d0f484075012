"""The images that the chains of a run start from, where they start from any."""

import dataclasses

import numpy as np

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples
from srmcmc_tf.data.examples import Examples


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
        other = dataclasses.replace(
            config,
            dataset="folder",
            data_dir=config.start_dir,
            n_left_out=0,
        )
        return examples.load(other).observed
    if config.start not in ("data", "degraded"):
        return None
    found = found or examples.load(config)
    return found.left_out if len(found.left_out) else found.observed

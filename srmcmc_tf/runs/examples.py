"""The examples of a run: those that it was trained on, or an error.

Images of a folder or a dataset may have changed since: measured against others,
or "left out" of others, the values would mean nothing.
"""

import numpy as np

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples, start_images
from srmcmc_tf.data.examples import Examples
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import digests
from srmcmc_tf.runs.run import Run


def load(run: Run) -> Examples:
    """Loads the examples of a run; `UserError` where they have changed."""
    config = run.config
    found = examples.load(config)
    if config.data.points or config.data.reader == "digits":
        return found  # they are part of the package, or of scikit-learn
    starts = None
    if config.start == "dataset":
        starts = start_images.load(config, found)
    if digest(config, found, starts) != run.data_digest:
        raise UserError(
            f"the data of {run} have changed since it was trained; restore "
            "them, or name others: --images=FOLDER, or --real=SET and "
            "--fake=SET in bin/evaluate"
        )
    return found


def load_starts(run: Run) -> np.ndarray | None:
    """Loads the images that the chains of a run start from, if they do."""
    if run.config.start == "dataset":  # without the others
        return start_images.load(run.config)
    return start_images.load(run.config, load(run))


def digest(
    config: Config, found: Examples, starts: np.ndarray | None = None
) -> str:
    """The digest of a run's examples, and of the images that chains start from.

    That of a conditional run is also of their labels.

    Args:
        config: the settings.
        found: their examples.
        starts: as of `start_images.load`.
    """
    text = digests.of_array(found.observed)
    if config.start == "dataset" and starts is not None:
        text = digests.of_text(text + digests.of_array(starts), len(text))
    if config.conditional == "on" and found.labels is not None:
        y = digests.of_array(found.labels.observed)
        text = digests.of_text(text + y, len(text))
    return text

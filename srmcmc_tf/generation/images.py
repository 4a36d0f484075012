"""The images that a command is given: a folder, or examples of the run."""

import dataclasses

import numpy as np

from srmcmc_tf.config import presets
from srmcmc_tf.data import examples
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import examples as run_examples
from srmcmc_tf.runs.run import Run
from srmcmc_tf.runs.source import Source


def images_of(
    source: Source,
    shape: tuple[int, ...],
    folder: str | None,
    n: int,
    part: str = "left_out",
) -> np.ndarray:
    """The images of a folder, or by default those of a run.

    Args:
        source: a run, or a model file.
        shape: (h, w, c) of an image.
        folder: a directory of images, or None.
        n: number of images at most.
        part: which examples of a run: "left_out" or "observed".

    Returns:
        uint8 [n, h, w, c].
    """
    if folder is None:
        found = np.zeros([0])
        if isinstance(source, Run):
            found = getattr(run_examples.load(source), part)
        if not len(found):
            words = part.replace("_", "-")
            raise UserError(
                f"{source} has no {words} examples: give --images=FOLDER"
            )
        return found[:n]
    config = dataclasses.replace(
        presets.load("folder"),
        data_dir=folder,
        image_size=shape[0],
        channels=shape[2],
        n_left_out=0,
        batch_size=1,
    )
    return examples.load(config).observed[:n]

"""The reconstruction error of a model on held-out images."""

import math
import pathlib

import numpy as np
from tqdm import tqdm

from srmcmc_tf.data import pixels
from srmcmc_tf.evaluation import partial
from srmcmc_tf.evaluation.records import Record
from srmcmc_tf.files import digests
from srmcmc_tf.models.generator import Generator


def reconstruction_error(
    model: Generator,
    left_out: np.ndarray,
    *,
    part: pathlib.Path | None = None,
    batch: int = 50,
) -> Record:
    """The record of the squared error per pixel and channel, in [-1, 1].

    z has as many numbers as x: a network that learned nothing reconstructs,
    too. So the record also has `untrained`, the error of the same network with
    new weights on the first images, and their number `n_untrained`.

    Args:
        model: reconstructs the images.
        left_out: images it was not trained on, uint8 [n, h, w, c].
        part: file of the errors of an interrupted call.
        batch: images at once.
    """
    n = len(left_out)
    if not n or left_out.ndim != 4:
        reason = "there are no left-out images"
        return {"value": None, "n": 0, "reason": reason}
    request = f"{digests.of_weights(model)} {digests.of_array(left_out)}"
    saved = partial.load(part, request)
    errors = np.zeros([0]) if saved is None else saved["errors"]
    bar = tqdm(total=n, desc="mse", unit=" images", delay=2, leave=False)
    with bar:
        while len(errors) < n:
            done = len(errors)
            bar.update(done - bar.n)
            more = _errors(model, left_out[done : done + batch], done)
            errors = np.concatenate([errors, more])
            if part:
                partial.save(part, request, {"errors": errors})
    baseline = _errors(model.untrained(), left_out[:batch], 0)
    return {
        "value": float(errors.mean()),
        "standard_error": float(errors.std() / math.sqrt(n)),
        "n": n,
        "range": "[-1, 1]",
        "untrained": float(baseline.mean()),
        "n_untrained": len(baseline),
    }


def _errors(model: Generator, images: np.ndarray, first: int) -> np.ndarray:
    """The errors [n] of uint8 images, with the seeds from `first` on."""
    x = pixels.to_float(images)
    found = model.reconstruct(x, seeds=range(first, first + len(x))).x
    found = pixels.to_float(pixels.to_uint8(np.asarray(found)))
    return np.mean((found - x) ** 2, axis=(1, 2, 3))

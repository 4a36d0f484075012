"""The accuracy of the classifier that a conditional model implies."""

import math

import numpy as np

from srmcmc_tf.data import pixels
from srmcmc_tf.evaluation.records import Record
from srmcmc_tf.models.short_run import ShortRunEBM


def accuracy(
    model: ShortRunEBM,
    images: np.ndarray,
    labels: np.ndarray,
    *,
    batch: int = 256,
) -> Record:
    """The record of how often argmax_y f(x, y) is the label of x.

    Args:
        model: a conditional model.
        images: that it was not trained on, uint8 [n, h, w, c].
        labels: their classes, integers [n].
        batch: images at once.
    """
    n = len(images)
    if not n:
        return {"value": None, "n": 0, "reason": "no examples were left out"}
    right = 0
    for i in range(0, n, batch):
        found = model.classify(pixels.to_float(images[i : i + batch])).numpy()
        right += int(np.sum(found == labels[i : i + batch]))
    share = right / n
    return {
        "value": share,
        "standard_error": math.sqrt(share * (1 - share) / n),
        "n": n,
        "classes": model.n_classes,
    }

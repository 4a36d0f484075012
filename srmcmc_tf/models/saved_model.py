"""The SavedModel that `model.export` writes."""

from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.models.sampler import Sampler


def write(model: Sampler, filepath: Any, *, verbose: bool = True) -> None:
    """Writes f as the signature `serve`, and the chain as `sample`.

    Args:
        model: a short-run model.
        filepath: a directory.
        verbose: whether Keras prints the signatures.
    """
    archive = keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint(
        "serve",
        lambda x: model(x),
        [tf.TensorSpec([None, *model.image_shape], tf.float32, name="x")],
    )
    archive.add_endpoint(
        "sample",
        lambda seeds: model.sample(seeds),
        [tf.TensorSpec([None], tf.int64, name="seeds")],
    )
    archive.write_out(str(filepath), verbose=verbose)

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
    seeds = tf.TensorSpec([None], tf.int64, name="seeds")
    if model.needs_images:
        images = tf.TensorSpec([None, *model.image_shape], name="images")
        archive.add_endpoint(
            "sample",
            lambda seeds, images: model.trace(seeds, [model.K], images=images)[
                :, 0
            ],
            [seeds, images],
        )
    else:
        if model.starting.kept():
            archive.track(model.starting)
        archive.add_endpoint(
            "sample", lambda seeds: model.sample(seeds), [seeds]
        )
    archive.write_out(str(filepath), verbose=verbose)

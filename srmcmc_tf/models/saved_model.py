"""The SavedModel that `model.export` writes."""

from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.models.sampler import Sampler


def write(model: Sampler, filepath: Any, *, verbose: bool = True) -> None:
    """Writes f as the signature `serve`, and the chain as `sample`.

    Those of a conditional model also have the input `labels`.

    Args:
        model: a short-run model.
        filepath: a directory.
        verbose: whether Keras prints the signatures.
    """
    archive = keras.export.ExportArchive()
    archive.track(model)
    images = tf.TensorSpec([None, *model.image_shape], tf.float32, name="x")
    seeds = tf.TensorSpec([None], tf.int64, name="seeds")
    labels = [tf.TensorSpec([None], tf.int64, name="labels")]
    y = labels if model.n_classes else []

    def f(x: tf.Tensor, labels: Any = None) -> tf.Tensor:
        return model(x if labels is None else [x, labels])

    archive.add_endpoint("serve", f, [images, *y])
    if model.needs_images:
        images = tf.TensorSpec([None, *model.image_shape], name="images")

        def sample_from(
            seeds: tf.Tensor, images: tf.Tensor, labels: Any = None
        ) -> tf.Tensor:
            options = dict(images=images, labels=labels)
            return model.trace(seeds, [model.K], **options)[:, 0]

        archive.add_endpoint("sample", sample_from, [seeds, images, *y])
    else:
        if model.starting.kept():
            archive.track(model.starting)

        def sample(seeds: tf.Tensor, labels: Any = None) -> tf.Tensor:
            return model.trace(seeds, [model.K], labels=labels)[:, 0]

        archive.add_endpoint("sample", sample, [seeds, *y])
    archive.write_out(str(filepath), verbose=verbose)

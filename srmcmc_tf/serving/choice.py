"""Which signatures a model has: other ones if it needs images, or labels."""

import functools
from collections.abc import Container, Mapping

import tensorflow as tf

from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.serving import signatures
from srmcmc_tf.serving.inputs import checked, finite
from srmcmc_tf.serving.signatures import Outputs, Served, Signature


def of_model(model: ShortRunEBM) -> dict[str, Signature]:
    """Returns the signatures that a model can have, by name.

    Interpolation and reconstruction are those of a plain chain from noise. If
    chains start from images, a sample needs one for each seed; if the model is
    conditional, everything but `classify` needs labels.
    """
    found = dict(signatures.SIGNATURES)
    if model.needs_images:
        found |= FROM_IMAGES
    if model.n_classes:
        found = with_labels(found)
    try:
        model.starting.check_inverts()
    except ValueError:
        found = {
            name: signature
            for name, signature in found.items()
            if not name.startswith(("interpolate", "reconstruct"))
        }
    return found


def _sample(
    name: str,
    served: Served,
    images: tf.Tensor,
    seeds: tf.Tensor,
    K: tf.Tensor,
) -> Outputs:
    """Samples from images that came as the input `name`."""
    x = getattr(served.inputs, name)(images)
    seeds = served.inputs.batch("seeds", seeds)
    K = served.inputs.count("K", K, served.limits.K)
    n = tf.shape(x)[0]
    rule = "must be as many as seeds"
    x = checked(name, x, n == tf.size(seeds), rule, n)
    return signatures.in_all_forms(
        "K", served.model.sample(seeds, K=K, images=x, labels=served.labels)
    )


def described(names: Container[str]) -> dict[str, Signature]:
    """Returns those signatures that an export has, by its functions' names."""
    found = dict(signatures.SIGNATURES)
    if "sample_png" in names:
        found |= FROM_IMAGES
    if "classify" in names:
        found = with_labels(found)
    return {name: s for name, s in found.items() if name in names}


def with_labels(found: Mapping[str, Signature]) -> dict[str, Signature]:
    """Returns signatures of a conditional model, and those of its classifier.

    Args:
        found: signatures of models without classes, by name.
    """
    return {name: _labeled(s) for name, s in found.items()} | CLASSIFIERS


def _labeled(signature: Signature) -> Signature:
    """The same signature with an input `labels`, before those that are one."""
    scalars = "K", "iterations", "rho"
    place = sum(name not in scalars for name in signature.inputs)

    def body(served: Served, *inputs: tf.Tensor) -> Outputs:
        rest = [*inputs[:place], *inputs[place + 1 :]]
        given = served.given(inputs[place], tf.shape(rest[0])[0])
        return signature.body(given, *rest)

    names = list(signature.inputs)
    names.insert(place, "labels")
    return signature._replace(inputs=tuple(names), body=body)


def _classify(name: str, served: Served, images: tf.Tensor) -> Outputs:
    """The classes of images that came as the input `name`."""
    x = getattr(served.inputs, name)(images)
    f = finite(name, served.model.f_by_class(x))
    return {"labels": tf.argmax(f, axis=1), "f": f}


CLASSIFIERS = {
    "classify": Signature(
        "f(x, y) of every class y, and the label argmax_y f(x, y).",
        ("images",),
        functools.partial(_classify, "images"),
    ),
    "classify_uint8": Signature(
        "The same of pixels from 0 to 255.",
        ("images_uint8",),
        functools.partial(_classify, "images_uint8"),
    ),
    "classify_png": Signature(
        "The same of PNG files of the model's size.",
        ("png_bytes",),
        functools.partial(_classify, "png_bytes"),
    ),
}


FROM_IMAGES = {
    "sample": Signature(
        "One chain of K steps from each image; its seed names its noise.",
        ("images", "seeds", "K"),
        functools.partial(_sample, "images"),
    ),
    "sample_uint8": Signature(
        "The same of pixels from 0 to 255.",
        ("images_uint8", "seeds", "K"),
        functools.partial(_sample, "images_uint8"),
    ),
    "sample_png": Signature(
        "The same of PNG files of the model's size.",
        ("png_bytes", "seeds", "K"),
        functools.partial(_sample, "png_bytes"),
    ),
}

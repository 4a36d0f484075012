"""Which signatures a model has: other ones if chains start from images."""

import functools
from collections.abc import Container

import tensorflow as tf

from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.serving import signatures
from srmcmc_tf.serving.inputs import checked
from srmcmc_tf.serving.signatures import Outputs, Served, Signature


def of_model(model: ShortRunEBM) -> dict[str, Signature]:
    """Returns the signatures that a model can have, by name.

    Interpolation and reconstruction are those of a plain chain from noise. If
    chains start from images, a sample needs one for each seed.
    """
    found = dict(signatures.SIGNATURES)
    if model.needs_images:
        found |= FROM_IMAGES
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
        "K", served.model.sample(seeds, K=K, images=x)
    )


def described(names: Container[str]) -> dict[str, Signature]:
    """Returns those signatures that an export has, by its functions' names."""
    found = dict(signatures.SIGNATURES)
    if "sample_png" in names:
        found |= FROM_IMAGES
    return {name: s for name, s in found.items() if name in names}


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

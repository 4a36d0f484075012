"""The signatures of a served model: checked inputs, named outputs.

Images are float32 in about [-1, 1], uint8, or PNG files. Names of bytes end in
`_bytes`, for which TF Serving's REST interface uses base64. A request that
cannot be answered is an error that names the input at fault, never a NaN.
"""

import copy
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.sampling import inversion
from srmcmc_tf.serving.inputs import Inputs, Limits, checked, finite

Outputs = dict[str, tf.Tensor]
Function = Any  # a `tf.types.experimental.PolymorphicFunction`
DEFAULT = "serving_default"  # the name that TF Serving uses if none is given
# Ends the names of signatures that leave out the inputs with a default.
WITH_DEFAULTS = "_default"


def default_limits(model: ShortRunEBM) -> Limits:
    """Returns 64 images, twice the K of the training, 200 iterations."""
    return Limits(batch=64, K=2 * model.K, iterations=200)


def defaults(model: ShortRunEBM) -> dict[str, int]:
    """Returns the values of optional inputs: those of the Python methods."""
    parameters = inspect.signature(model.reconstruct).parameters
    return {"K": model.K, "iterations": parameters["iterations"].default}


def build(
    model: ShortRunEBM,
    limits: Limits,
    chosen: Mapping[str, "Signature"] | None = None,
) -> dict[str, Function]:
    """Builds the signatures of a model.

    Args:
        model: a `ShortRunEBM` of images [h, w, c].
        limits: of a request.
        chosen: the signatures, by default `SIGNATURES`; see `choice`.

    Returns:
        Functions by name; `serving_default` is `energy`. `K` and `iterations`
        have defaults in the SavedModel. TF Serving uses these in gRPC but not
        in its REST interface, nor does `tf.saved_model.load`; for them there
        are signatures without these inputs, named with `_default`.
    """
    served = Served(model, limits)
    given = {n: tf.constant(v, tf.int32) for n, v in defaults(model).items()}
    functions, short = {}, {}
    for name, signature in (chosen or SIGNATURES).items():
        body = functools.partial(signature.body, served)
        specs = {n: served.inputs.specs[n] for n in signature.inputs}
        functions[name] = function = _function(body, specs, given)
        needed = {n: spec for n, spec in specs.items() if n not in given}
        if len(needed) < len(specs):
            rest = {n: given[n] for n in specs if n not in needed}
            body = functools.partial(_call, function, rest)
            short[name + WITH_DEFAULTS] = _function(body, needed, {})
    return {DEFAULT: functions["energy"], **functions, **short}


def _call(function: Function, rest: Outputs, *inputs: tf.Tensor) -> Outputs:
    return function(*inputs, **rest)


def _function(
    body: Callable[..., Outputs],
    specs: dict[str, tf.TensorSpec],
    defaults: dict[str, tf.Tensor],
) -> Function:
    """`body` as a function of named inputs, some of which have defaults."""

    def call(*inputs: tf.Tensor) -> Outputs:
        return body(*inputs)

    # A SavedModel takes names and defaults from the Python parameters.
    none, kind = (
        inspect.Parameter.empty,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, kind, default=defaults.get(name, none))
            for name in specs
        ]
    )
    return tf.function(call, input_signature=list(specs.values()))


def input_specs(function: Function) -> dict[str, tf.TensorSpec]:
    """Returns the `tf.TensorSpec`s of a signature's inputs, by name."""
    # `structured_input_signature` would have k for K.
    parameters = function.get_concrete_function().function_type.parameters
    return {name: p.type_constraint for name, p in parameters.items()}


class Served:
    """A model with its checked inputs, and what several signatures share.

    Attributes:
        labels: of the chains or images of a request, int64 [n]; None unless
            the model is conditional. See `given`.
    """

    def __init__(self, model: ShortRunEBM, limits: Limits) -> None:
        self.model = model
        self.limits = limits
        self.inputs = Inputs(model.image_shape, limits)
        self.labels: tf.Tensor | None = None
        specs = self.inputs.specs
        names = ["images", "iterations", *["labels"] * bool(model.n_classes)]
        # One function for all forms of images: its graph is large.
        self._descend = tf.function(
            self._descend_from_seeds,
            input_signature=[specs[name] for name in names],
        )

    def given(self, labels: tf.Tensor, n: tf.Tensor) -> "Served":
        """Returns the same with the labels of a request for n images."""
        labels = self.inputs.batch("labels", labels)
        most = self.model.n_classes - 1
        inside = tf.reduce_all((labels >= 0) & (labels <= most))
        rule = f"must be from 0 to {most}"
        labels = checked("labels", labels, inside, rule, labels)
        rule, count = "must be one for each", tf.size(labels)
        found = copy.copy(self)
        found.labels = checked("labels", labels, count == n, rule, count)
        return found

    def energy(self, name: str, x: tf.Tensor) -> Outputs:
        """Returns f of images in [-1, 1] that came as the input `name`."""
        y = [] if self.labels is None else [self.labels]
        f = tf.reshape(self.model.energy([x, *y] if y else x), [-1])
        return {"f": finite(name, f)}

    def reconstruct(self, x: tf.Tensor, iterations: tf.Tensor) -> Outputs:
        """Returns the reconstructions of images in [-1, 1]."""
        iterations = self.inputs.count(
            "iterations", iterations, self.limits.iterations
        )
        y = [] if self.labels is None else [self.labels]
        ends, mse = self._descend(x, iterations, *y)
        mse = finite("iterations", mse)
        return {**in_all_forms("iterations", ends), "mse": mse}

    def _descend_from_seeds(
        self, x: tf.Tensor, iterations: tf.Tensor, *y: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        model = self.model
        labels = [tf.cast(own, tf.int32) for own in y]
        return inversion.descend(
            lambda z: model.with_pullback(z, model.K, *labels),
            x,
            model.start(tf.range(tf.shape(x)[0])),
            iterations=iterations,
            metric=model.metric(),
            best=len(model.stages) > 1,
        )


def _sample(served: Served, seeds: tf.Tensor, K: tf.Tensor) -> Outputs:
    seeds = served.inputs.batch("seeds", seeds)
    K = served.inputs.count("K", K, served.limits.K)
    x = served.model.sample(seeds, K=K, labels=served.labels)
    return in_all_forms("K", x)


def _interpolate(
    served: Served, seeds_1: tf.Tensor, seeds_2: tf.Tensor, rho: tf.Tensor
) -> Outputs:
    seeds_1 = served.inputs.batch("seeds_1", seeds_1)
    seeds_2 = served.inputs.batch("seeds_2", seeds_2)
    rho = served.inputs.batch("rho", rho)
    most = served.limits.batch
    n, n_2, r = tf.size(seeds_1), tf.size(seeds_2), tf.size(rho)
    rule = "must be as many as seeds_1"
    seeds_2 = checked("seeds_2", seeds_2, n_2 == n, rule, n_2)
    rule = f"times seeds_1 must make at most {most} images"
    rho = checked("rho", rho, r * n <= most, rule, r * n)
    inside = tf.reduce_all((rho >= 0.0) & (rho <= 1.0))
    rho = checked("rho", rho, inside, "must lie in [0, 1]", rho)
    z1, z2 = served.model.start(seeds_1), served.model.start(seeds_2)
    x = served.model.interpolate(z1, z2, rho, labels=served.labels)
    return in_all_forms("rho", x)


def _reconstruct(
    served: Served, images: tf.Tensor, iterations: tf.Tensor
) -> Outputs:
    return served.reconstruct(served.inputs.images(images), iterations)


def _reconstruct_uint8(
    served: Served, images_uint8: tf.Tensor, iterations: tf.Tensor
) -> Outputs:
    x = served.inputs.images_uint8(images_uint8)
    return served.reconstruct(x, iterations)


def _reconstruct_png(
    served: Served, png_bytes: tf.Tensor, iterations: tf.Tensor
) -> Outputs:
    return served.reconstruct(served.inputs.png_bytes(png_bytes), iterations)


def _energy(served: Served, images: tf.Tensor) -> Outputs:
    return served.energy("images", served.inputs.images(images))


def _energy_uint8(served: Served, images_uint8: tf.Tensor) -> Outputs:
    x = served.inputs.images_uint8(images_uint8)
    return served.energy("images_uint8", x)


def _energy_png(served: Served, png_bytes: tf.Tensor) -> Outputs:
    return served.energy("png_bytes", served.inputs.png_bytes(png_bytes))


def in_all_forms(name: str, x: tf.Tensor) -> Outputs:
    """Returns images in all forms; `name` is at fault if they are not finite.

    Args:
        name: of an input.
        x: float32 [..., h, w, c].
    """
    x = finite(name, x)
    pixels = (tf.clip_by_value(x, -1.0, 1.0) + 1.0) * 127.5
    pixels = tf.cast(tf.round(pixels), tf.uint8)
    files = tf.io.encode_png(pixels)
    return {"images": x, "images_uint8": pixels, "png_bytes": files}


class Signature(NamedTuple):
    """One signature.

    Attributes:
        description: a sentence for the model card.
        inputs: names of its inputs, as in `Inputs.specs`.
        body: function of `Served` and these inputs, which are its parameters'
            names, too.
    """

    description: str
    inputs: tuple[str, ...]
    body: Callable[..., Outputs]


SIGNATURES = {
    "sample": Signature(
        "One chain of K steps a seed, which names its start and noise.",
        ("seeds", "K"),
        _sample,
    ),
    "interpolate": Signature(
        "Ends of the starts rho z1 + sqrt(1 - rho^2) z2, no noise.",
        ("seeds_1", "seeds_2", "rho"),
        _interpolate,
    ),
    "reconstruct": Signature(
        "Descent over z, of seeds 0, 1, ..., on M(z) - x.",
        ("images", "iterations"),
        _reconstruct,
    ),
    "reconstruct_uint8": Signature(
        "The same of pixels from 0 to 255.",
        ("images_uint8", "iterations"),
        _reconstruct_uint8,
    ),
    "reconstruct_png": Signature(
        "The same of PNG files of the model's size.",
        ("png_bytes", "iterations"),
        _reconstruct_png,
    ),
    "energy": Signature(
        "f(x), the negative energy: higher is more likely. The default.",
        ("images",),
        _energy,
    ),
    "energy_uint8": Signature(
        "The same of pixels from 0 to 255.", ("images_uint8",), _energy_uint8
    ),
    "energy_png": Signature(
        "The same of PNG files of the model's size.",
        ("png_bytes",),
        _energy_png,
    ),
}

"""The sampler as a served model's signatures: checked inputs, named outputs.

An image goes in and comes out as float32 about [-1, 1], as uint8, or as a PNG
file. Names of bytes end in `_bytes`, for which TF Serving's REST interface
sends base64. A request that cannot be answered gets an error that names the
input at fault, never a NaN.
"""

import inspect
import struct
from typing import NamedTuple

import tensorflow as tf

from srmcmc_tf.data import pixels
from srmcmc_tf.sampling import inversion

SIGNATURES = {
    "sample": "One chain of K steps a seed, which names its start and noise.",
    "interpolate": "Ends of the starts rho z1 + sqrt(1 - rho^2) z2, no noise.",
    "reconstruct": "Descent over z, of seeds 0, 1, ..., on M(z) - x.",
    "reconstruct_uint8": "The same of pixels from 0 to 255.",
    "reconstruct_png": "The same of PNG files of the model's size.",
    "energy": "f(x), the negative energy: higher is more likely. The default.",
    "energy_uint8": "The same of pixels from 0 to 255.",
    "energy_png": "The same of PNG files of the model's size.",
}

# A chain is not clipped, so that its images may leave [-1, 1]; what lies
# beyond this is a mistake, such as pixels from 0 to 255.
LARGEST_PIXEL = 10.0


class Limits(NamedTuple):
    """The most that one request may ask for.

    Attributes:
        batch: images.
        K: steps of a chain.
        iterations: steps of a reconstruction's descent.
    """

    batch: int
    K: int
    iterations: int


def limits_of(model):
    """64 images, twice the training's K, the paper's 200 iterations."""
    return Limits(batch=64, K=2 * model.K, iterations=200)


def build(model, limits):
    """The signatures of a model.

    Args:
        model: a `ShortRunEBM` of images [h, w, c].
        limits: `Limits`.

    Returns:
        Concrete functions by name; `serving_default` is `energy`.
    """
    served = _Served(model, limits)
    functions = {name: served.function(name) for name in SIGNATURES}
    return {"serving_default": functions["energy"], **functions}


def inputs(function):
    """The `TensorSpec`s of a signature's inputs, by name."""
    parameters = function.function_type.parameters  # elsewhere K becomes k
    return {name: p.type_constraint for name, p in parameters.items()}


class _Served:
    """The bodies of the signatures; an argument's name is the input's."""

    def __init__(self, model, limits):
        self.model = model
        self.limits = limits
        shape = model.energy.input_shape[1:]
        self.inputs = {
            "seeds": tf.TensorSpec([None], tf.int64),
            "seeds_1": tf.TensorSpec([None], tf.int64),
            "seeds_2": tf.TensorSpec([None], tf.int64),
            "K": tf.TensorSpec([], tf.int32),
            "rho": tf.TensorSpec([None], tf.float32),
            "iterations": tf.TensorSpec([], tf.int32),
            "images": tf.TensorSpec([None, *shape], tf.float32),
            "images_uint8": tf.TensorSpec([None, *shape], tf.uint8),
            "png_bytes": tf.TensorSpec([None], tf.string),
        }
        # A table, because a graph's division by 127.5 becomes a product that
        # differs in the last bit.
        self.floats = pixels.to_float(tf.range(256))
        # One function for all forms of images: its graph is large.
        self._descend = tf.function(
            self._descend,
            input_signature=[self.inputs["images"], self.inputs["iterations"]],
        )

    def function(self, name):
        """The concrete function of a signature."""
        body = getattr(self, name)
        specs = [
            tf.TensorSpec(self.inputs[n].shape, self.inputs[n].dtype, n)
            for n in inspect.signature(body).parameters
        ]
        return tf.function(body, input_signature=specs).get_concrete_function()

    def sample(self, seeds, K):
        seeds = self._batch("seeds", seeds)
        K = self._count("K", K, self.limits.K)
        return _images("K", self.model.sample(seeds, K=K))

    def interpolate(self, seeds_1, seeds_2, rho):
        seeds_1 = self._batch("seeds_1", seeds_1)
        seeds_2 = self._batch("seeds_2", seeds_2)
        rho = self._batch("rho", rho)
        n, n_2, r = tf.size(seeds_1), tf.size(seeds_2), tf.size(rho)
        seeds_2 = _checked(
            "seeds_2", seeds_2, n_2 == n, "must be as many as seeds_1", n_2
        )
        rule = f"times seeds_1 must make {self.limits.batch} images at the most"
        rho = _checked("rho", rho, r * n <= self.limits.batch, rule, r * n)
        inside = tf.reduce_all((rho >= 0.0) & (rho <= 1.0))
        rho = _checked("rho", rho, inside, "must lie in [0, 1]", rho)
        z1, z2 = self.model.start(seeds_1), self.model.start(seeds_2)
        return _images("rho", self.model.interpolate(z1, z2, rho))

    def reconstruct(self, images, iterations):
        return self._reconstruct(self._floats(images), iterations)

    def reconstruct_uint8(self, images_uint8, iterations):
        return self._reconstruct(self._pixels(images_uint8), iterations)

    def reconstruct_png(self, png_bytes, iterations):
        return self._reconstruct(self._files(png_bytes), iterations)

    def energy(self, images):
        return self._f("images", self._floats(images))

    def energy_uint8(self, images_uint8):
        return self._f("images_uint8", self._pixels(images_uint8))

    def energy_png(self, png_bytes):
        return self._f("png_bytes", self._files(png_bytes))

    def _f(self, name, x):
        f = tf.reshape(self.model.energy(x), [-1])
        return {"f": _finite(name, f)}

    def _reconstruct(self, x, iterations):
        limit = self.limits.iterations
        iterations = self._count("iterations", iterations, limit)
        ends, mse = self._descend(x, iterations)
        mse = _finite("iterations", mse)
        return {**_images("iterations", ends), "mse": mse}

    def _descend(self, x, iterations):
        """The paper's descent, as one graph."""
        return inversion.descend(
            self.model.energy,
            x,
            self.model.start(tf.range(tf.shape(x)[0])),
            iterations=iterations,
            K=self.model.K,
            step_size=self.model.step_size,
        )

    def _floats(self, images):
        x = self._batch("images", images)
        largest = tf.reduce_max(tf.abs(x))
        rule = f"must lie about [-1, 1], none beyond {LARGEST_PIXEL:g}"
        return _checked("images", x, largest <= LARGEST_PIXEL, rule, largest)

    def _pixels(self, images_uint8):
        return self._to_float(self._batch("images_uint8", images_uint8))

    def _files(self, png_bytes):
        files = self._batch("png_bytes", png_bytes)
        height, width, channels = self.inputs["images"].shape[1:]
        # Every PNG file starts so; another size is never decoded.
        head = b"\x89PNG\r\n\x1a\n" + struct.pack(
            ">I4sII", 13, b"IHDR", width, height
        )
        good = tf.reduce_all(tf.strings.substr(files, 0, len(head)) == head)
        rule = f"must be PNG files of {width}x{height} pixels"
        lengths = tf.strings.length(files)
        files = _checked("png_bytes", files, good, rule, lengths)
        with tf.name_scope("png_bytes"):  # for the decoder's own error
            pixels = tf.map_fn(
                lambda file: tf.io.decode_png(file, channels),
                files,
                fn_output_signature=tf.TensorSpec(
                    [height, width, channels], tf.uint8
                ),
            )
        return self._to_float(pixels)

    def _to_float(self, pixels):
        return tf.gather(self.floats, tf.cast(pixels, tf.int32))

    def _batch(self, name, value):
        """`value`, if it has the input's shape and an allowed length."""
        value = self._shaped(name, value)
        n, most = tf.shape(value)[0], self.limits.batch
        rule = f"must hold 1 to {most}"
        return _checked(name, value, (n >= 1) & (n <= most), rule, n)

    def _count(self, name, value, most):
        value = self._shaped(name, value)
        rule = f"must lie in 0 to {most}"
        good = (value >= 0) & (value <= most)
        return _checked(name, value, good, rule, value)

    def _shaped(self, name, value):
        # Not idle: a server feeds tensors of any shape. Its error has the
        # name of the operation.
        shape = self.inputs[name].shape
        return tf.ensure_shape(value, shape, name=f"{name}_shape")


def _images(name, x):
    """Images as floats, pixels and files; `name` is to blame for a NaN."""
    x = _finite(name, x)
    pixels = (tf.clip_by_value(x, -1.0, 1.0) + 1.0) * 127.5
    pixels = tf.cast(tf.round(pixels), tf.uint8)
    files = tf.io.encode_png(pixels)
    return {"images": x, "images_uint8": pixels, "png_bytes": files}


def _finite(name, x):
    good = tf.reduce_all(tf.math.is_finite(x))
    rule = "leads to values that are not finite"
    return _checked(name, x, good, rule, tf.reduce_max(tf.abs(x)))


def _checked(name, value, good, rule, got):
    """`value`, once `good` is known to hold: nothing is computed before."""
    check = tf.debugging.Assert(good, [f"{name} {rule}; got", got])
    with tf.control_dependencies([check]):
        return tf.identity(value)

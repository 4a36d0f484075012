"""Networks of the baselines: the energy's ConvNet, and its reverse."""

from collections.abc import Callable
from typing import Any

import keras
from keras import layers

from srmcmc_tf.models import energies


def encoder(
    image_size: int,
    channels: int,
    outputs: int,
    *,
    n_f: int,
    batch_norm: bool = False,
    seed: int = 0,
    dtype: str = "float32",
    name: str = "encoder",
) -> keras.Model:
    """Images to numbers: the layers and feature maps of `energies.convnet`.

    Args:
        image_size: height and width, a power of two from 8 up.
        channels: number of channels of the images.
        outputs: numbers per image.
        n_f: feature maps of the first layer.
        batch_norm: whether all layers but the first and the last are
            normalised (Radford et al.); they then have no biases.
        seed: integer, the random seed of the initial weights.
        dtype: a Keras dtype or policy; input and output stay float32.
        name: of the network.

    Returns:
        A `keras.Model`, [n, size, size, channels] to [n, outputs].
    """
    layer = _layers(layers.Conv2D, batch_norm, seed, dtype)
    x = inputs = keras.Input((image_size, image_size, channels))
    for i, width in enumerate(energies.widths(image_size, n_f)):
        size, stride = (3, 1) if i == 0 else (4, 2)
        x = layer(i, x, width, size, stride, normalised=i > 0)
        x = layers.LeakyReLU(0.2, dtype=dtype, name=f"lrelu_{i}")(x)
    x = layer(i + 1, x, outputs, 4, 1, padding="valid")
    x = layers.Flatten(dtype="float32", name="outputs")(x)
    return keras.Model(inputs, x, name=name)


def generator(
    image_size: int,
    channels: int,
    latent: int,
    *,
    n_f: int,
    batch_norm: bool = False,
    seed: int = 0,
    dtype: str = "float32",
) -> keras.Model:
    """Numbers to images: `encoder`'s layers in the opposite order.

    z becomes 4x4 feature maps; each 4x4 convolution, transposed with stride
    2, doubles the size; a 3x3 one and tanh give the image.

    Args:
        image_size, channels, n_f, seed, dtype: see `encoder`.
        latent: length of z.
        batch_norm: whether all layers but the last are normalised.

    Returns:
        A `keras.Model`, z [n, latent] to [n, size, size, channels] in [-1, 1].
    """
    layer = _layers(layers.Conv2DTranspose, batch_norm, seed, dtype)
    *narrower, width = energies.widths(image_size, n_f)
    inputs = keras.Input((latent,))
    x = layers.Reshape((1, 1, latent), dtype=dtype, name="z")(inputs)
    x = layer(0, x, width, 4, 1, padding="valid", normalised=True)
    x = layers.ReLU(dtype=dtype, name="relu_0")(x)
    for i, width in enumerate(reversed(narrower), 1):
        x = layer(i, x, width, 4, 2, normalised=True)
        x = layers.ReLU(dtype=dtype, name=f"relu_{i}")(x)
    x = layer(i + 1, x, channels, 3, 1)
    x = layers.Activation("tanh", dtype="float32", name="x")(x)
    return keras.Model(inputs, x, name="generator")


def _layers(
    kind: type[layers.Layer], batch_norm: bool, seed: int, dtype: str
) -> Callable[..., Any]:
    """A function that adds one convolution, normalised if it may be."""

    def layer(
        i: int,
        x: Any,
        filters: int,
        size: int,
        stride: int,
        padding: str = "same",
        normalised: bool = False,
    ) -> Any:
        normalised = normalised and batch_norm
        # Radford et al. start small, which normalisation makes up for; He et
        # al. start so that ReLUs alone keep the scale.
        start = (
            keras.initializers.RandomNormal(0.0, 0.02, seed=100 * seed + i)
            if batch_norm
            else keras.initializers.HeNormal(seed=100 * seed + i)
        )
        x = kind(
            filters,
            size,
            strides=stride,
            padding=padding,
            use_bias=not normalised,
            kernel_initializer=start,
            dtype=dtype,
            name=f"conv_{i}",
        )(x)
        if normalised:
            x = layers.BatchNormalization(
                momentum=0.9, epsilon=1e-5, dtype=dtype, name=f"norm_{i}"
            )(x)
        return x

    return layer

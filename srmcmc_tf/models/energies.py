"""The networks f(x) of the paper: higher f is more likely."""

import itertools
from typing import Any

import keras
import numpy as np
from keras import layers


def convnet(
    image_size: int,
    channels: int = 3,
    *,
    n_f: int = 64,
    seed: int = 0,
    dtype: str | None = None,
) -> keras.Model:
    """The paper's ConvNet (its tables 4 to 6) for any power-of-two size.

    A 3x3 convolution, then 4x4 ones of stride 2 until 4x4 is left, then one
    4x4 without padding; feature maps n_f, 2 n_f, 4 n_f, 8 n_f, 8 n_f, ...;
    LeakyReLU of slope 0.2, biases, no normalisation. Weights start as in
    PyTorch, which the paper used: kernels and biases uniform in
    +-1/sqrt(fan_in).

    Args:
        image_size: height and width, a power of two from 8 up.
        channels: number of channels of the images.
        n_f: feature maps of the first layer.
        seed: integer, the random seed of the initial weights.
        dtype: a Keras dtype or policy, by default the global one; with
            "mixed_bfloat16" the convolutions run in bfloat16, output and
            weights stay float32.

    Returns:
        A `keras.Model`, images [n, size, size, channels] to f [n, 1].

    Examples:

    >>> convnet(32, 3, n_f=64).count_params()
    2763393
    """
    x = inputs = keras.Input((image_size, image_size, channels))
    for i, width in enumerate(widths(image_size, n_f)):
        size, stride = (3, 1) if i == 0 else (4, 2)
        x = _conv(
            x, width, size, stride, "same", f"conv_{i}", 100 * seed + i, dtype
        )
        x = layers.LeakyReLU(0.2, dtype=dtype, name=f"lrelu_{i}")(x)
    i += 1
    x = _conv(x, 1, 4, 1, "valid", f"conv_{i}", 100 * seed + i, dtype)
    # float32 whatever the policy: differences of f are small beside f.
    outputs = layers.Flatten(dtype="float32", name="f")(x)
    return keras.Model(inputs, outputs, name="energy")


def pooled(
    image_size: int,
    channels: int = 3,
    *,
    n_f: int = 64,
    seed: int = 0,
    dtype: str = "float32",
) -> keras.Model:
    """A ConvNet of 3x3 convolutions that shrinks images by averaging.

    Two convolutions at full size, then average pooling and a convolution until
    4x4 is left, then one 4x4 without padding; otherwise like `convnet`. The f'
    of strided convolutions has a grid that shows in flat areas of samples
    where a chain ends without noise; this network has none.

    Args:
        image_size: height and width, a power of two from 4 up.
        channels, n_f, seed, dtype: as for `convnet`.

    Returns:
        A `keras.Model`, images [n, size, size, channels] to f [n, 1].

    Examples:

    >>> pooled(32, 3, n_f=32).count_params()
    401761
    """
    x = inputs = keras.Input((image_size, image_size, channels))
    maps = widths(image_size, n_f, least=4)
    for i, width in enumerate([n_f, *maps]):
        if i > 1:
            x = layers.AveragePooling2D(2, dtype=dtype, name=f"pool_{i}")(x)
        x = _conv(x, width, 3, 1, "same", f"conv_{i}", 100 * seed + i, dtype)
        x = layers.LeakyReLU(0.2, dtype=dtype, name=f"lrelu_{i}")(x)
    i += 1
    x = _conv(x, 1, 4, 1, "valid", f"conv_{i}", 100 * seed + i, dtype)
    outputs = layers.Flatten(dtype="float32", name="f")(x)
    return keras.Model(inputs, outputs, name="energy")


def mlp(
    d: int, *, n_f: int = 64, seed: int = 0, dtype: str | None = None
) -> keras.Model:
    """A network for points: four hidden layers, otherwise like `convnet`.

    LeakyReLU's kinks lie all over [-1, 1], so f soon has narrow modes.
    On the toys a smooth SiLU did a little better on the line and much worse in
    the plane: after 2,000 updates it had found 4 of the 8 modes of a mixture.

    Args:
        d: number of coordinates of a point.
        n_f: width of the hidden layers.
        seed: integer, the random seed of the initial weights.
        dtype: a Keras dtype or policy, as for `convnet`.

    Returns:
        A `keras.Model`, points [n, d] to f [n, 1].

    Examples:

    >>> mlp(2, n_f=64).count_params()
    12737
    """
    x = inputs = keras.Input((d,))
    for i in range(4):
        x = _dense(x, n_f, f"dense_{i}", 100 * seed + i, dtype)
        x = layers.LeakyReLU(0.2, dtype=dtype, name=f"lrelu_{i}")(x)
    x = _dense(x, 1, "dense_4", 100 * seed + 4, dtype)
    outputs = layers.Flatten(dtype="float32", name="f")(x)
    return keras.Model(inputs, outputs, name="energy")


def flop(image_size: int, channels: int, n_f: int) -> int:
    """Floating-point operations of `convnet`'s convolutions for one image.

    A step of the chain takes about twice as many, because f' takes as many as
    f; the gradient of the weights takes as many again.
    """
    maps = [channels, *widths(image_size, n_f)]
    total = 2 * 4 * 4 * maps[-1]
    for i, (inside, outside) in enumerate(itertools.pairwise(maps)):
        side, size = (image_size, 3) if i == 0 else (image_size >> i, 4)
        total += 2 * side * side * size * size * inside * outside
    return total


def widths(image_size: int, n_f: int, least: int = 8) -> list[int]:
    """Feature maps at full size, at half of it, and so on down to 4x4."""
    if image_size < least or image_size & (image_size - 1):
        raise ValueError(
            f"image_size must be a power of two from {least} up, not "
            f"{image_size}"
        )
    strided = image_size.bit_length() - 3
    return [n_f * min(2**i, 8) for i in range(strided + 1)]


def _conv(
    x: Any,
    filters: int,
    size: int,
    stride: int,
    padding: str,
    name: str,
    seed: int,
    dtype: str | None,
) -> Any:
    return layers.Conv2D(
        filters,
        size,
        strides=stride,
        padding=padding,
        **_uniform(size * size * x.shape[-1], seed),
        dtype=dtype,
        name=name,
    )(x)


def _dense(x: Any, units: int, name: str, seed: int, dtype: str | None) -> Any:
    start = _uniform(x.shape[-1], seed)
    return layers.Dense(units, **start, dtype=dtype, name=name)(x)


def _uniform(fan_in: int, seed: int) -> dict[str, Any]:
    """PyTorch's initial weights."""
    limit = fan_in**-0.5
    uniform = keras.initializers.RandomUniform
    return {
        "kernel_initializer": uniform(-limit, limit, seed=2 * seed),
        "bias_initializer": uniform(-limit, limit, seed=2 * seed + 1),
    }


def named_weights(network: keras.Model) -> dict[str, np.ndarray]:
    """The weights in layer order: `00/kernel` (HWIO), `00/bias`, ..."""
    kinds = layers.Conv2D, layers.Dense
    found = [layer for layer in network.layers if isinstance(layer, kinds)]
    return {
        f"{i:02d}/{name}": getattr(layer, name).numpy()
        for i, layer in enumerate(found)
        for name in ("kernel", "bias")
    }

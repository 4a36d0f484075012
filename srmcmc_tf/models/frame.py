"""FRAME: f(x) = <theta, h(x)>, fixed features h of which only theta is learned.

An exponential family: the gradient of the loss with respect to theta is
E_q[h] - E_data[h], so the `gradient_norm` that `fit` logs is the norm of the
paper's estimating equation, which learning brings to 0.
"""

import math
from collections.abc import Sequence

import keras
import numpy as np
from keras import layers


def filter_bank(orientations: int = 4, size: int = 7) -> np.ndarray:
    """Gabor filters, Laplacians of Gaussians and a delta, as in FRAME.

    Args:
        orientations: number of directions; each has an even and an odd Gabor
            filter of two wavelengths.
        size: height and width, odd.

    Returns:
        float32 [size, size, 4 * orientations + 3]; all but the delta have mean
        0 and norm 1.

    Examples:

    >>> filter_bank(4).shape
    (7, 7, 19)
    """
    if size < 3 or size % 2 == 0:
        raise ValueError(f"size must be odd and at least 3, not {size}")
    r = np.arange(size) - size // 2
    y, x = np.meshgrid(r, r, indexing="ij")
    bank = []
    for sigma in (size / 8, size / 4):
        for angle in np.pi * np.arange(orientations) / orientations:
            along = x * np.cos(angle) + y * np.sin(angle)
            across = y * np.cos(angle) - x * np.sin(angle)
            window = np.exp(-(2 * along**2 + across**2) / (2 * sigma**2))
            wave = 2 * np.pi * along / (2.5 * sigma)
            bank += [window * np.cos(wave), window * np.sin(wave)]
        squares = (x**2 + y**2) / sigma**2
        bank.append((2 - 2 * squares) * np.exp(-squares))
    filters = np.stack(bank, axis=-1)
    filters -= filters.mean(axis=(0, 1))
    filters /= np.linalg.norm(filters, axis=(0, 1))
    delta = ((x == 0) & (y == 0))[..., None]
    return np.concatenate([filters, delta], axis=-1).astype(np.float32)


def frame(
    filters: np.ndarray,
    image_shape: tuple[int, int, int],
    *,
    scales: Sequence[int] = (1, 2, 4),
    thresholds: Sequence[float] = (0.0, 0.3, 0.9),
) -> keras.Model:
    """FRAME: responses of linear filters, rectified and pooled.

    h(x) has, for each scale, filter, channel, sign and threshold t, the sum
    over positions of max(0, +-response - t): a summary of the histogram of
    the filter's responses, which the model learns to match. As positions are
    summed, f is a model of textures. Filters of a larger scale see the image
    averaged over squares.

    Args:
        filters: [size, size, n], such as `filter_bank()`.
        image_shape: (h, w, c) of the images; every channel has its own
            responses.
        scales: sides of the squares, each a divisor of h and w.
        thresholds: the t.

    Returns:
        A `keras.Model`, images [n, h, w, c] to f [n, 1]; theta starts at 0.

    Examples:

    >>> f = frame(filter_bank(), (64, 64, 1))
    >>> [tuple(v.shape) for v in f.trainable_variables]
    [(342, 1)]
    """
    height, width, channels = image_shape
    side, _, n = filters.shape
    for scale in scales:
        if height % scale or width % scale:
            raise ValueError(f"scale {scale} must divide {height} and {width}")
        if min(height, width) // scale < side:
            raise ValueError(
                f"scale {scale}: {image_shape} is smaller than a filter of "
                f"{side} times {scale} pixels"
            )
    inputs = keras.Input(image_shape)
    # Every channel by itself; on a CPU faster than a depthwise convolution.
    kernel = np.einsum("cd,yxn->yxcdn", np.eye(channels), filters)
    kernel = kernel.reshape(side, side, channels, channels * n)
    features = []
    for scale in scales:
        x = layers.AveragePooling2D(scale)(inputs) if scale > 1 else inputs
        convolution = layers.Conv2D(
            channels * n,
            side,
            padding="same",
            use_bias=False,
            trainable=False,
        )
        response = convolution(x)
        convolution.set_weights([kernel])
        for sign in (1.0, -1.0):
            for t in thresholds:
                some = layers.Rescaling(sign, -float(t))(response)
                some = layers.GlobalAveragePooling2D()(layers.ReLU()(some))
                # The sum; a position of a larger scale stands for several.
                features.append(layers.Rescaling(float(height * width))(some))
    h = layers.Concatenate(name="h")(features)
    return keras.Model(inputs, _inner_product(h), name="frame")


def deep_frame(backbone: keras.Model, layer: str) -> keras.Model:
    """Deep FRAME: the features of a trained ConvNet, pooled.

    h(x) has the sum over positions of each feature map of a layer. The
    backbone is not changed and not trained; f uses it outside of training.

    Args:
        backbone: a Sequential or functional model of images in [-1, 1], such
            as a trained energy or a classifier.
        layer: name of one of its layers, with outputs [n, h, w, c] or [n, c].

    Returns:
        A `keras.Model`, images to f [n, 1]; theta starts at 0.

    Examples:

    >>> trained = srmcmc_tf.energies.convnet(8, 1, n_f=4)
    >>> f = deep_frame(trained, "lrelu_1")
    >>> [tuple(v.shape) for v in f.trainable_variables]
    [(8, 1)]
    """
    if getattr(backbone, "inputs", None) is None:
        raise ValueError(
            "the backbone must be a Sequential or functional model"
        )
    names = [item.name for item in backbone.layers]
    if layer not in names:
        raise ValueError(f"no layer {layer}: there are {', '.join(names)}")
    maps = keras.Model(backbone.inputs, backbone.get_layer(layer).output)
    frozen = keras.models.clone_model(maps)
    frozen.set_weights(maps.get_weights())
    frozen.trainable = False
    inputs = keras.Input(backbone.input_shape[1:])
    h = frozen(inputs, training=False)
    if len(h.shape) == 4:
        positions = math.prod(h.shape[1:3])
        h = layers.GlobalAveragePooling2D()(h)
        h = layers.Rescaling(float(positions))(h)
    h = layers.Identity(name="h")(h)
    return keras.Model(inputs, _inner_product(h), name="deep_frame")


def _inner_product(h: keras.KerasTensor) -> keras.KerasTensor:
    """<theta, h>, float32 whatever the policy, theta = 0 at first."""
    return layers.Dense(
        1,
        use_bias=False,
        kernel_initializer="zeros",
        dtype="float32",
        name="theta",
    )(h)

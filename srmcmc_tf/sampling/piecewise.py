"""Whether a network is piecewise linear in x: known from its layers."""

import functools
from typing import Any

import keras
import tensorflow as tf
from keras import layers

from srmcmc_tf.sampling.kernels import Given

# With `training=False`, as in a chain, each is linear or piecewise linear in
# its input. The exact classes: a subclass may compute something else.
_LAYERS = {
    layers.InputLayer,
    # linear, up to an activation
    layers.Conv1D,
    layers.Conv1DTranspose,
    layers.Conv2D,
    layers.Conv2DTranspose,
    layers.Conv3D,
    layers.Conv3DTranspose,
    layers.Dense,
    layers.DepthwiseConv1D,
    layers.DepthwiseConv2D,
    layers.EinsumDense,
    layers.SeparableConv1D,
    layers.SeparableConv2D,
    layers.BatchNormalization,
    layers.Rescaling,
    # piecewise linear
    layers.Activation,
    layers.LeakyReLU,
    layers.PReLU,
    layers.ReLU,
    # sums and choices
    layers.Add,
    layers.Average,
    layers.Concatenate,
    layers.Maximum,
    layers.Minimum,
    layers.Subtract,
    layers.AveragePooling1D,
    layers.AveragePooling2D,
    layers.GlobalAveragePooling1D,
    layers.GlobalAveragePooling2D,
    layers.GlobalMaxPooling1D,
    layers.GlobalMaxPooling2D,
    layers.MaxPooling1D,
    layers.MaxPooling2D,
    # the same numbers elsewhere
    layers.Cropping1D,
    layers.Cropping2D,
    layers.Flatten,
    layers.Identity,
    layers.Permute,
    layers.Reshape,
    layers.UpSampling1D,
    layers.UpSampling2D,
    layers.ZeroPadding1D,
    layers.ZeroPadding2D,
    # the identity outside of training
    layers.Dropout,
    layers.GaussianDropout,
    layers.GaussianNoise,
    layers.SpatialDropout1D,
    layers.SpatialDropout2D,
}
_ACTIVATIONS = {
    None,
    keras.activations.leaky_relu,
    keras.activations.linear,
    keras.activations.relu,
    keras.activations.relu6,
}
# The class of `keras.Model(inputs, outputs)`, which Keras does not export. A
# model without a layer is an error in Keras 3.12, the last for Python 3.10.
_INPUT = keras.Input([1])
_FUNCTIONAL = type(keras.Model(_INPUT, layers.Flatten(name="rows")(_INPUT)))


@tf.autograph.experimental.do_not_convert
def piecewise_linear(f: Any) -> bool:
    """Whether f is known to be piecewise linear in x outside of training.

    Then f' is piecewise constant, and a step x + step_size * f'(x) is locally
    a shift: its Jacobian is the identity almost everywhere.

    Args:
        f: a `keras.Model`, or a `functools.partial` of one that fixes
            `training=False`, or either with the labels of `kernels.Given`.

    Returns:
        True if every operation of the network is in a list of known ones,
        nested models included. False for anything else: subclassed models,
        other callables, unknown layers.
    """
    if isinstance(f, Given):
        return piecewise_linear(f.f)
    if isinstance(f, functools.partial):
        fixed = not f.args and f.keywords == {"training": False}
        return fixed and piecewise_linear(f.func)
    if type(f) is keras.Sequential:
        return f.built and all(map(piecewise_linear, f.layers))
    if isinstance(f, keras.Model):
        # `operations` also has the calls of `keras.ops` between the layers.
        functional = type(f) is _FUNCTIONAL
        return functional and all(map(piecewise_linear, f.operations))
    if type(f) is layers.SpectralNormalization:
        return piecewise_linear(f.layer)
    # Our conditional head is linear, because labels do not change.
    known = type(f) in _LAYERS or getattr(f, "linear_given_labels", False)
    return known and getattr(f, "activation", None) in _ACTIVATIONS

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from srmcmc_tf.models import energies
from srmcmc_tf.sampling import inversion, rng
from srmcmc_tf.sampling.piecewise import piecewise_linear


def sequential(*more):
    return keras.Sequential(
        [keras.Input((8, 8, 1)), *more, layers.Flatten(), layers.Dense(1)]
    )


def residual():
    """Layers of every known sort, in nested models."""
    inputs = keras.Input((8, 8, 1))
    x = layers.SpectralNormalization(layers.Conv2D(4, 3, padding="same"))(
        inputs
    )
    block = keras.Sequential(
        [
            keras.Input((8, 8, 4)),
            layers.BatchNormalization(moving_variance_initializer="ones"),
            layers.ReLU(),
            layers.ZeroPadding2D(),
            layers.Conv2D(4, 3, activation="leaky_relu"),
            layers.Dropout(0.5),
        ]
    )
    x = layers.Add()([x, block(x)])
    y = layers.GlobalAveragePooling2D()(layers.MaxPooling2D()(x))
    x = layers.Flatten()(layers.AveragePooling2D(2)(x))
    x = layers.Dense(1)(layers.PReLU()(layers.Dense(5, "relu")(x)))
    x = layers.Add()([x, layers.Dense(1)(y)])
    return keras.Model(inputs, x)


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1)

    def call(self, x):
        return self.dense(layers.Flatten()(x)) ** 2


class Squared(layers.Dense):
    def call(self, x):
        return super().call(x) ** 2


def with_an_operation():
    x = inputs = keras.Input((8, 8, 1))
    x = layers.Dense(1)(layers.Flatten()(x))
    return keras.Model(inputs, keras.ops.square(x))


def nested_smooth():
    inner = sequential(layers.Conv2D(2, 3, activation="silu"))
    inputs = keras.Input((8, 8, 1))
    return keras.Model(inputs, layers.Dense(1)(inner(inputs)))


LINEAR = {
    "convnet": lambda: energies.convnet(8, 1, n_f=4),
    "bfloat16": lambda: energies.convnet(8, 1, n_f=4, dtype="mixed_bfloat16"),
    "residual": residual,
}
UNKNOWN = {
    "tanh": lambda: sequential(layers.Conv2D(2, 3, activation="tanh")),
    "gelu": lambda: sequential(layers.Activation("gelu")),
    "normalized": lambda: sequential(layers.LayerNormalization()),
    "subclassed": Subclassed,
    "subclassed layer": lambda: sequential(Squared(2)),
    "wrapped": lambda: sequential(
        layers.SpectralNormalization(layers.Dense(2, activation="elu"))
    ),
    "operation": with_an_operation,
    "nested": nested_smooth,
    "function": lambda: lambda x: tf.reduce_sum(x**2, [1, 2, 3]),
}


@pytest.mark.parametrize("make", LINEAR.values(), ids=LINEAR)
def test_the_shortcut_equals_the_general_gradient(make):
    f = make()
    for weight in f.trainable_variables:
        weight.assign(3.0 * weight)  # so that chains move
    z = rng.stream(1).uniform([3, 8, 8, 1])
    assert piecewise_linear(f)
    assert piecewise_linear(functools.partial(f, training=False))

    @tf.function
    def both(z):
        K = tf.constant(7)
        x, losses, slope = inversion.through_chain(f, z, loss, K=K)
        end, pullback = inversion.in_segments(f, z, K=K)
        with tf.GradientTape() as tape:
            tape.watch(end)
            expected = loss(end)
        general = pullback(tape.gradient(expected, end))
        return (x, losses, slope), (end, expected, general)

    shortcut, general = both(z)
    assert np.abs(shortcut[0] - z).max() > 0.01
    for own, expected in zip(shortcut, general, strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-5)


def loss(x):
    """What is observed is smaller than x, and not linear in it."""
    seen = tf.nn.avg_pool2d(x, 2, 2, "VALID")
    return tf.reduce_sum(tf.square(tf.tanh(seen) - 0.3), [1, 2, 3])


@pytest.mark.parametrize("make", UNKNOWN.values(), ids=UNKNOWN)
def test_anything_unknown_takes_the_general_code(make):
    f = make()
    if isinstance(f, keras.Model):
        f(tf.zeros([1, 8, 8, 1]))
    assert not piecewise_linear(f)


def test_a_network_in_training_mode_is_not_linear():
    f = residual()
    assert not piecewise_linear(functools.partial(f, training=True))


def test_a_reconstruction_takes_the_shortcut(tiny_model, monkeypatch):
    monkeypatch.setattr(inversion, "in_segments", None)
    found = tiny_model.reconstruct(tf.zeros([1, 8, 8, 1]), iterations=1)
    assert found.mse[1, 0] < found.mse[0, 0]

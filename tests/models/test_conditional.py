import re

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import two_inputs

from srmcmc_tf import energies
from srmcmc_tf.models import conditional
from srmcmc_tf.sampling import kernels
from srmcmc_tf.sampling.piecewise import piecewise_linear

layers = keras.layers


def pooled_at_the_end():
    """A Sequential energy whose last layer with weights is not its last."""
    conv = layers.Conv2D(1, 3, padding="same", name="last")
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(4, 3, activation="silu"),
            conv,
            layers.GlobalAveragePooling2D(),
            layers.Activation("tanh"),
        ]
    )


ENERGIES = {
    "convnet": lambda: energies.convnet(8, 1, n_f=4),
    "pooled": lambda: energies.pooled(8, 1, n_f=2),
    "mlp": lambda: energies.mlp(2, n_f=4),
    "frame": lambda: energies.frame(
        energies.filter_bank()[..., :2], (16, 16, 1), scales=(1,)
    ),
    "pooled at the end": pooled_at_the_end,
}


def images(energy, n=4):
    generator = np.random.default_rng(0)
    shape = (n, *energy.input_shape[1:])
    return generator.uniform(-1, 1, shape).astype(np.float32)


@pytest.mark.parametrize("name", ENERGIES)
def test_f_of_every_class_is_that_of_the_energy_until_trained(name):
    energy = ENERGIES[name]()
    for weight in energy.trainable_variables:
        weight.assign(weight + 0.01)  # frame's start at 0
    x = images(energy)
    f = conditional.conditional(energy, 3)
    for label in range(3):
        found = f([x, np.full(4, label)])
        np.testing.assert_allclose(found, energy(x), rtol=1e-5)
    assert conditional.n_classes_of(f) == 3
    assert conditional.n_classes_of(energy) == 0


def test_a_class_has_weights_of_its_own():
    energy = energies.mlp(2, n_f=4)
    x, f = images(energy), conditional.conditional(energy, 3)
    kernel = f.get_layer("dense_4").kernel
    kernel.assign(kernel + [[0.0, 1.0, 0.0]])
    assert not np.allclose(f([x, np.full(4, 1)]), energy(x))
    np.testing.assert_allclose(f([x, np.full(4, 2)]), energy(x), rtol=1e-5)


@pytest.mark.parametrize("head", [True, False])
def test_f_by_class_is_f_of_each_class(head):
    f = conditional.conditional(energies.convnet(8, 1, n_f=4), 3)
    if head:
        kernel = f.get_layer("conv_2").kernel
        kernel.assign(kernel * np.arange(3.0))
    else:
        f = two_inputs()
    x = tf.random.stateless_uniform([4, 8, 8, 1], [1, 2])
    found = conditional.f_by_class(f, x, 3)
    assert found.shape == (4, 3)
    assert (conditional.every_class(f) is not None) == head
    for label in range(3):
        expected = f([x, tf.fill([4], label)])[:, 0]
        np.testing.assert_allclose(found[:, label], expected, rtol=1e-5)


@pytest.mark.parametrize(
    "end, reason",
    [
        ([layers.Dense(2)], "is no Dense layer or convolution with one output"),
        ([layers.Dense(1), layers.LayerNormalization()], "layer_normalization"),
        ([layers.Dense(8), layers.Reshape((8, 1)), layers.Dense(1)], "return"),
    ],
)
def test_an_energy_without_such_an_end_is_refused_in_one_line(end, reason):
    energy = keras.Sequential([keras.Input((8, 8, 1)), layers.Flatten(), *end])
    with pytest.raises(ValueError, match=re.escape(reason)) as error:
        conditional.conditional(energy, 3)
    assert "two inputs" in str(error.value) and "\n" not in str(error.value)


def test_one_class_is_no_condition():
    with pytest.raises(ValueError, match="must be 2 or more"):
        conditional.conditional(energies.mlp(2, n_f=2), 1)


def test_a_conditional_energy_is_as_piecewise_linear_as_without_labels():
    y = tf.constant([1, 2])
    for energy, linear in (
        (energies.convnet(8, 1, n_f=2), True),
        (pooled_at_the_end(), False),
    ):
        f = conditional.conditional(energy, 3)
        assert piecewise_linear(kernels.given(f, y)) is linear

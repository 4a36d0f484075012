import keras
import numpy as np
import tensorflow as tf
from helpers import random_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.models import layer_state
from srmcmc_tf.sampling import rng

X = pixels.to_float(random_images(8)).numpy()


def network():
    """With all kinds of layers that keep something; the same each time."""
    keras.utils.set_random_seed(1)
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Flatten(),
            layers.SpectralNormalization(layers.Dense(8)),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.GaussianNoise(0.1),
            layers.Dense(1),
        ]
    )


def compiled(energy):
    model = srmcmc_tf.ShortRunEBM(energy, K=2)
    model.compile(keras.optimizers.SGD(0.01))
    return model


def fit(model, updates, callbacks=()):
    options = dict(batch_size=8, shuffle=False, verbose=0)
    model.fit(X, epochs=updates, callbacks=list(callbacks), **options)
    return [weight.numpy() for weight in model.weights]


def assert_same(first, second):
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_resumed_fit_ends_in_the_same_bits_whatever_layers_keep(tmp_path):
    whole = fit(compiled(network()), 3)
    saves = srmcmc_tf.callbacks.Checkpoints(tmp_path, every=1)
    model = compiled(network())
    fit(model, 2, [saves])
    model.save(tmp_path / "model.keras")
    keras.utils.set_random_seed(7)  # a new process draws otherwise
    resumed = compiled(network())
    assert saves.restore(resumed) == 2
    assert_same(fit(resumed, 1), whole)
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert_same(fit(loaded, 1), whole)


def test_masks_differ_between_updates_and_between_layers():
    layers = [keras.layers.Dropout(0.5, seed=3) for _ in range(2)]
    energy = keras.Sequential([keras.Input((64,)), *layers])
    masks = []
    for update in (0, 1, 0):
        stream = rng.stream(0).fold(rng.LAYERS, update)
        layer_state.set_seeds(energy, stream)
        x = tf.ones([1, 64])
        masks.append([layer(x, training=True).numpy() for layer in layers])
    assert_same(masks[0], masks[2])
    assert not np.array_equal(masks[0][0], masks[0][1])
    assert not np.array_equal(masks[0][0], masks[1][0])

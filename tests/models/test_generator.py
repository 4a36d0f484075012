import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import random_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.models.baselines.vae import VAE
from srmcmc_tf.models.generator import Generator, between


def fit(model):
    x = pixels.to_float(random_images(8))
    return model.fit(x, batch_size=8, shuffle=False, verbose=0).history


def test_the_number_of_updates_is_counted(tiny_model):
    assert tiny_model.update == 0
    fit(tiny_model), fit(tiny_model)
    assert tiny_model.update == 2


def make(kind, seed):
    if kind == "vae":
        model = VAE(8, 1, n_f=2, latent=3, seed=seed)
    else:
        energy = srmcmc_tf.energies.convnet(8, 1, n_f=2)
        model = srmcmc_tf.ShortRunEBM(energy, K=2, seed=seed)
    model.compile(keras.optimizers.SGD(0.0))
    return model


@pytest.mark.parametrize("kind", ["ebm", "vae"])
def test_another_seed_holds_from_the_next_update_on(kind):
    model, other = make(kind, seed=0), make(kind, seed=0)
    fit(model), fit(other)
    model.set_seed(5)
    assert fit(model) != fit(other)
    assert model.get_config()["seed"] == 5


def test_a_checkpoint_holds_the_average_where_there_is_one(tiny_model):
    assert tiny_model.average is None
    assert set(tiny_model.checkpoint_items()) == {"energy", "optimizer"}
    tiny_model.keep_average(0.5)
    items = tiny_model.checkpoint_items()
    assert items["average"] is tiny_model.average


def test_the_average_can_replace_the_weights(tiny_model):
    tiny_model.keep_average(0.9)
    tiny_model.weights[0].assign_add(tf.ones_like(tiny_model.weights[0]))
    assert not np.array_equal(
        tiny_model.weights[0], tiny_model.average.values[0]
    )
    tiny_model.use_average()
    np.testing.assert_array_equal(
        tiny_model.weights[0], tiny_model.average.values[0]
    )


def test_points_between_two_starts_with_them_and_keep_the_variance():
    z1, z2 = tf.random.stateless_normal([2, 1, 10_000], [1, 2])
    z = between(z1, z2, [0.0, 0.6, 1.0]).numpy()
    assert z.shape == (1, 3, 10_000)
    np.testing.assert_array_equal(z[:, 0], z2)
    np.testing.assert_array_equal(z[:, 2], z1)
    np.testing.assert_allclose(z.var(axis=2), 1.0, atol=0.05)


@pytest.mark.parametrize("kind", ["ebm", "vae"])
def test_an_untrained_model_has_its_first_weights_again(kind):
    model = make(kind, seed=0)
    first = [w.numpy() for w in model.weights]
    for weight in model.weights:
        weight.assign_add(tf.ones_like(weight))
    again = model.untrained()
    for own, initial in zip(again.weights, first, strict=True):
        np.testing.assert_array_equal(own, initial)
    assert np.array_equal(model.weights[0], first[0] + 1)


def test_a_model_that_defines_nothing_says_so():
    with pytest.raises(NotImplementedError):
        Generator().sample([0])

import keras
import numpy as np
import tensorflow as tf
from helpers import random_images

from srmcmc_tf.data import pixels
from srmcmc_tf.models.baselines.dcgan import DCGAN
from srmcmc_tf.sampling import rng


def test_an_update_moves_both_networks_by_their_cross_entropies():
    model = DCGAN(8, 1, n_f=4, latent=3, seed=7)
    model.compile(keras.optimizers.SGD(0.1))
    x = pixels.to_float(random_images(8))
    noise = rng.stream(7).fold(rng.TRAIN, 0, 0).normal([8, 3])
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    one, zero = tf.ones([8, 1]), tf.zeros([8, 1])
    networks = model.generator, model.discriminator
    before = [[w.numpy() for w in n.trainable_variables] for n in networks]
    with tf.GradientTape(persistent=True) as tape:
        fake = model.discriminator(
            model.generator(noise, training=True), training=True
        )
        real = model.discriminator(x, training=True)
        losses = loss(one, fake), loss(one, real) + loss(zero, fake)
    slopes = [
        tape.gradient(value, network.trainable_variables)
        for value, network in zip(losses, networks, strict=True)
    ]
    model.fit(x, batch_size=8, shuffle=False, verbose=0)
    for network, old, slope in zip(networks, before, slopes, strict=True):
        for w, a, b in zip(
            network.trainable_variables, old, slope, strict=True
        ):
            np.testing.assert_allclose(w, a - 0.1 * b, atol=1e-6)


def linear_dcgan():
    """A DCGAN whose generator is x = A z: its posterior is a Gaussian."""
    model = DCGAN(8, 1, n_f=2, latent=2)
    A = np.random.default_rng(0).normal(0, 0.1, (2, 64)).astype(np.float32)
    model.generator = keras.Sequential(
        [
            keras.Input((2,)),
            keras.layers.Dense(64, use_bias=False),
            keras.layers.Reshape((8, 8, 1)),
        ]
    )
    model.generator.set_weights([A])
    return model, A.T


def test_inference_of_z_draws_from_its_posterior():
    model, A = linear_dcgan()
    x = np.tile(model(tf.constant([[1.0, -0.5]])), [400, 1, 1, 1])
    found = model.reconstruct(x, iterations=80, step=0.35, sigma=0.5)
    covariance = np.linalg.inv(A.T @ A / 0.5**2 + np.eye(2))
    mean = covariance @ A.T @ x[0].ravel() / 0.5**2
    z = found.z.numpy()
    np.testing.assert_allclose(z.mean(axis=0), mean, atol=0.1)
    np.testing.assert_allclose(np.cov(z.T), covariance, atol=0.06)


def test_inference_knows_only_what_is_observed():
    model, _ = linear_dcgan()
    mask = np.zeros([8, 8, 1], np.float32)
    mask[:4] = 1
    x = model(tf.constant([[1.0, -0.5]]))
    found, same = (
        model.reconstruct(
            image,
            observe=lambda x: x * mask,
            iterations=50,
            step=0.1,
            sigma=0.1,
            keep=(0, 50),
        )
        for image in (x, tf.where(mask > 0, x, -x))
    )
    np.testing.assert_array_equal(found.x, same.x)
    assert found.mse.shape == (51, 1) and found.frames.shape == (2, 1, 8, 8, 1)
    assert found.mse[-1, 0] < 0.1 * found.mse[0, 0]


def test_a_z_is_inferred_alike_whatever_the_batch():
    model, _ = linear_dcgan()
    x = model.sample([1, 2, 3])
    whole = model.reconstruct(x, seeds=[4, 5, 6], iterations=20)
    alone = model.reconstruct(x[1:2], seeds=[5], iterations=20)
    np.testing.assert_allclose(whole.z[1], alone.z[0], atol=1e-5)


def test_a_checkpoint_holds_both_networks_and_both_optimizers():
    model = DCGAN(8, 1, n_f=2, latent=3)
    model.compile()
    fresh = [v.numpy() for v in model.non_trainable_variables]
    x = pixels.to_float(random_images(8))
    model.fit(x, batch_size=8, epochs=3, verbose=0)
    items = model.checkpoint_items()
    assert set(items) == {
        "generator",
        "discriminator",
        "optimizer",
        "discriminator_optimizer",
    }
    for name in ("optimizer", "discriminator_optimizer"):
        assert int(items[name].iterations) == 3
    held = {id(v) for item in items.values() for v in item.variables}
    for variable, before in zip(
        model.non_trainable_variables, fresh, strict=True
    ):
        assert id(variable) in held
        assert not np.array_equal(variable, before)  # of batch normalisation

import keras
import numpy as np
import pytest
from helpers import random_images
from scipy import stats

from srmcmc_tf.data import pixels
from srmcmc_tf.models.baselines.vae import VAE
from srmcmc_tf.sampling import rng


def test_the_bound_is_that_of_gaussians():
    model = VAE(8, 1, n_f=4, latent=3, seed=7)
    model.compile(keras.optimizers.SGD(0.0))
    x = pixels.to_float(random_images(8))
    history = model.fit(x, batch_size=8, shuffle=False, verbose=0).history
    logs = {k: v[0] for k, v in history.items()}

    mean, log_sigma = (v.numpy() for v in model.encode(x))
    noise = rng.stream(7).fold(rng.TRAIN, 0, 0).normal([8, 3])
    decoded = model(mean + np.exp(log_sigma) * noise).numpy()
    mse = np.mean((x - decoded) ** 2)
    likelihood = stats.norm.logpdf(x, decoded, np.sqrt(mse)).mean()
    generator = np.random.default_rng(0)
    sigma = np.exp(log_sigma)
    z = mean + sigma * generator.normal(size=(50_000, 8, 3))
    ratio = stats.norm.logpdf(z, mean, sigma) - stats.norm.logpdf(z)
    kl = ratio.sum(axis=2).mean()
    assert logs["mse"] == pytest.approx(mse, rel=1e-5)
    assert logs["kl"] == pytest.approx(kl, rel=0.02)
    assert logs["loss"] == pytest.approx(
        -likelihood + logs["kl"] / 64, rel=1e-3
    )


def test_a_reconstruction_is_the_decoded_mean():
    model = VAE(8, 1, n_f=4, latent=3)
    x = model.sample([1, 2])
    found = model.reconstruct(x, keep=(0,))
    mean, _ = model.encode(x)
    np.testing.assert_array_equal(found.z, mean)
    np.testing.assert_allclose(found.x, model(mean), atol=1e-6)
    mse = np.mean((x - found.x) ** 2, axis=(1, 2, 3))
    np.testing.assert_allclose(found.mse, mse[None], rtol=1e-5)
    assert found.frames.shape == (1, 2, 8, 8, 1)

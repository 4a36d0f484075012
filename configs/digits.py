"""Handwritten digits of scikit-learn, 8x8, nothing to download: the default."""

from srmcmc_tf.config import Config

config = Config(
    dataset="digits",
    image_size=8,
    channels=1,
    n_examples=1597,
    n_left_out=200,
    n_f=32,
    K=30,
    updates=1600,
    learning_rate=1e-3,
    sigma=0.1,
    anneal_after=1000,
    learning_rate_half_life=200,
    sigma_half_life=0,
    sample_every=200,
    checkpoint_every=200,
)

"""TODO"""

from srmcmc_tf.config import Config

config = Config(
    dataset="toy_2d",
    toy="mixtures",
    n_examples=40_000,
    n_left_out=0,
    n_f=64,
    K=50,
    step_size=5e-5,
    noise=0.01,
    updates=2_000,
    batch_size=128,
    learning_rate=5e-3,
    sigma=0.0,
    anneal_after=1_000,
    learning_rate_half_life=200,
    sigma_half_life=0,
)

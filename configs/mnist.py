"""MNIST, 28x28 resized to 32x32x1: not in the paper.

    bin/train --dataset=mnist

Cost: 0.35 TFLOP per update.
Expect: not measured; the settings follow the paper's for 32x32.
"""

from srmcmc_tf import Config

config = Config(
    dataset="mnist",
    image_size=32,
    channels=1,
    n_examples=40_000,
    n_left_out=1_000,
    n_f=32,
    K=50,
    updates=50_000,
    learning_rate=1e-4,
    sigma=0.05,
    anneal_after=40_000,
    learning_rate_half_life=2_500,
    sigma_half_life=10_000,
    ema=0.999,
)

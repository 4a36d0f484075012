"""Handwritten digits of scikit-learn, 8x8x1, nothing to download: the default.

    bin/train

Cost: about 3 minutes on 2 cores.
Expect: digits of all ten classes. Classifiers trained on the real ones have a
mean confidence of 0.90 (5 nearest neighbors) and 0.81 (logistic regression) on
the samples: see docs/reproduction.md.
Not in the paper: K and the batch are small for speed, sigma is large because a
small K needs it, and samples come from averaged weights.
"""

from srmcmc_tf import Config

config = Config(
    dataset="digits",
    image_size=8,
    channels=1,
    n_examples=1_597,
    n_left_out=200,
    n_f=64,
    K=10,
    updates=3_800,
    batch_size=16,
    learning_rate=1e-3,
    sigma=0.1,
    anneal_after=950,
    learning_rate_half_life=760,
    sigma_half_life=3_300,
    sample_every=500,
    checkpoint_every=500,
    ema=0.999,
)

"""A mixture of three Gaussians on a line: the paper's appendix in 1-D.

    bin/train --dataset=toy_1d

Cost: less than a minute on 2 cores.
Expect: the KDE of the samples at a total variation distance of 0.03 from the
truth (0.02 for exact draws), an EBM with the truth's modes but an entropy of
-1.8 nats, the truth -0.1.
The chain is the paper's text, a temperature of 1: step_size = noise^2 / 2.
"""

from srmcmc_tf import Config

config = Config(
    dataset="toy_1d",
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
    log_every=10,
)

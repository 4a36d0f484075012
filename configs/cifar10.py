"""CIFAR-10, 32x32x3: the paper's Table 1.

    bin/train --dataset=cifar10

Cost: 10.7 TFLOP per update (n_f=128, K=100, batch 64): for a GPU. With
`--n_f=32`, as in Tables 2 and 3, 0.69 TFLOP.
Expect: the paper reports IS 6.21 (n_f=128), IS 4.92 and FID 63.81 (n_f=32).
The paper anneals after 200,000 updates but does not say how fast: the
half-lives are ours.
"""

from srmcmc_tf import Config

config = Config(
    dataset="cifar10",
    image_size=32,
    channels=3,
    n_examples=40_000,
    n_left_out=1_000,
    n_f=128,
    K=100,
    updates=250_000,
    learning_rate=1e-4,
    sigma=0.03,
    anneal_after=200_000,
    learning_rate_half_life=12_500,
    sigma_half_life=50_000,
)

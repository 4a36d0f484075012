"""CelebA, 64x64x3: the paper's Table 1 and Figures 1, 3, 4 and 6.

    bin/train --dataset=celeb_a
    bin/train --dataset=celeb_a --data_dir=FOLDER_OF_FACES

Cost: 12.6 TFLOP per update; the paper took 16 hours for 100,000 updates on
four Titan Xp.
Expect: the paper reports FID 23.02 and a reconstruction MSE of 0.0271.
The half-lives of the annealing are ours: the paper does not give them.
"""

from srmcmc_tf import Config

config = Config(
    dataset="celeb_a",
    image_size=64,
    channels=3,
    n_examples=40_000,
    n_left_out=1_000,
    n_f=64,
    K=100,
    updates=250_000,
    learning_rate=1e-4,
    sigma=0.03,
    anneal_after=200_000,
    learning_rate_half_life=12_500,
    sigma_half_life=50_000,
)

"""CelebA, 128x128x3: the paper's Figure 2.

    bin/train --dataset=celeb_a_128
    bin/train --dataset=celeb_a_128 --data_dir=FOLDER_OF_FACES

Cost: 52.1 TFLOP per update.
Expect: the paper shows pictures, no number, and does not give n_f.
The half-lives of the annealing are ours: the paper does not give them.
"""

from srmcmc_tf import Config

config = Config(
    dataset="celeb_a_128",
    image_size=128,
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

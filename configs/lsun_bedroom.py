"""LSUN bedrooms, 64x64x3: the paper's Table 1 and Figure 6.

    bin/train --dataset=lsun_bedroom        # downloads 43 GB, needs 86 GB
    bin/train --dataset=lsun_bedroom --data_dir=PATH/bedroom_train_lmdb
    bin/train --dataset=lsun_bedroom --data_dir=FOLDER_OF_IMAGES

Cost: 12.6 TFLOP per update, as for CelebA at this size.
Expect: the paper reports FID 44.16 and a reconstruction MSE of 0.0272.
The half-lives of the annealing are ours: the paper does not give them.
"""

from srmcmc_tf import Config

config = Config(
    dataset="lsun_bedroom",
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

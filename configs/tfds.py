"""Any images of TensorFlow Datasets, cropped and resized to 64x64x3.

    bin/train --dataset=tfds:oxford_flowers102
    bin/train --dataset=tfds:svhn_cropped --image_size=32 --n_f=32 --K=50

Cost: 12.6 TFLOP per update as it is; 0.35 with the second line.
Expect: depends on the images. The settings are the paper's for CelebA.
"""

from srmcmc_tf import Config

config = Config(
    dataset="tfds",
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
    ema=0.999,
)

"""FRAME learns a texture from patches of a photograph, and draws more of it.

    python docs/examples/texture.py --out=texture.png
    python docs/examples/texture.py --backbone=preset:digits --out=deep.png

With a backbone it is deep FRAME: h are the feature maps of a trained energy.
The photograph is scikit-learn's china.jpg (by danielbuechele, CC BY 2.0); the
texture is its foliage, in gray. Chains of the learned energy start from
uniform noise. As f is a sum over positions, theta is used on larger images,
too.
"""

import argparse

import keras
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import srmcmc_tf
from srmcmc_tf import energies

CHAIN = dict(K=40, step_size=0.1, noise=0.005)


def foliage():
    """Gray levels [95, 200] of trees."""
    photograph = load_sample_image("china.jpg")
    return photograph[325:420, 360:560].mean(axis=-1)


def patches(image, size, n, seed=0):
    """Random patches of equal mean and contrast, [n, size, size, 1]."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        y, x = (generator.integers(side - size + 1) for side in image.shape)
        patch = image[y : y + size, x : x + size, None]
        found.append(0.4 * (patch - patch.mean()) / patch.std())
    return np.stack(found).astype("float32")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="texture.png")
    parser.add_argument("--backbone", help="a gray run or preset, pooled")
    parser.add_argument("--layer", default="lrelu_2")
    parser.add_argument("--size", type=int)
    parser.add_argument("--large", type=int)
    parser.add_argument("--epochs", type=int, default=25)
    args = parser.parse_args(argv)
    size = args.size or (32 if args.backbone else 48)
    keras.utils.set_random_seed(0)  # the order of the patches

    data = patches(foliage(), size, 64)
    f = energy(size, args.backbone, args.layer)
    model = srmcmc_tf.ShortRunEBM(f, **CHAIN)
    rate = keras.optimizers.schedules.CosineDecay(0.005, 16 * args.epochs)
    model.compile(keras.optimizers.Adam(rate))
    history = model.fit(data, batch_size=4, epochs=args.epochs, verbose=2)
    gap = history.history["gradient_norm"]

    side = args.large or 2 * size
    large = energy(side, args.backbone, args.layer)
    large.set_weights(f.get_weights())
    generator = srmcmc_tf.ShortRunEBM(large, **CHAIN)
    start, sample = generator.trace([0], [0, CHAIN["K"]])[0].numpy()
    draw(args.out, patches(foliage(), min(side, 95), 1)[0], start, sample)
    print(
        f"|E_q h - E_data h| in a batch: {gap[0]:.0f} in the first epoch, "
        f"{gap[-1]:.0f} in the last; between batches of data: "
        f"{floor(f, data):.0f}"
    )
    return gap


def energy(size, backbone, layer):
    """f of images of any size: of filters, or of a layer of a backbone."""
    if backbone is None:
        return energies.frame(energies.filter_bank(), (size, size, 1))
    trained = srmcmc_tf.load(backbone).energy
    n_f = trained.get_layer("conv_0").filters
    larger = energies.pooled(size, 1, n_f=n_f)  # the same convolutions
    for i in range(int(layer[-1]) + 1):
        kernel = trained.get_layer(f"conv_{i}").get_weights()
        larger.get_layer(f"conv_{i}").set_weights(kernel)
    return energies.deep_frame(larger, layer)


def floor(f, data):
    """The gap of h between batches of the data, which no model undercuts."""
    h = keras.Model(f.input, f.get_layer("h").output)(data)
    means = np.reshape(h, [-1, 4, h.shape[1]]).mean(axis=1)
    return np.linalg.norm(means[::2] - means[1::2], axis=1).mean()


def draw(path, photograph, start, sample):
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.3))
    titles = ("photograph", "start of a chain", "its end")
    pictures = zip(axes, titles, (photograph, start, sample), strict=True)
    for axis, title, image in pictures:
        axis.imshow(image[..., 0], cmap="gray", vmin=-1, vmax=1)
        axis.set(title=title, xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main()

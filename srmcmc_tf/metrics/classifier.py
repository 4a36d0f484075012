"""A small classifier of handwritten digits, where Inception does not suit.

Inception knows photographs in colour. For grey or tiny images its place is
taken by a network of our own, trained on scikit-learn's 1,797 digits when it
is first needed. Its values are named after it and are never called FID: they
compare runs with each other, not with the literature.
"""

import keras
import numpy as np
import tensorflow as tf

from srmcmc_tf import data
from srmcmc_tf.metrics import cache
from srmcmc_tf.metrics.network import Network, Seen, digest

_NAMES = {
    "fid": "digits_classifier_distance",
    "kid": "digits_classifier_kernel_distance",
    "is": "digits_classifier_score",
}
FEATURES = 64
CLASSES = 10


def load(height):
    """The classifier for images of a height.

    It works at the largest of 8x8, 16x16 and 32x32 that is not larger than
    the images, on the mean of their channels. It is kept in the cache: the
    same processor and seed train the same one, others a very similar one.

    Args:
        height: of the images, in pixels.

    Returns:
        A `Network` of 64 features and 10 classes.
    """
    size = max(s for s in (8, 16, 32) if s <= max(height, 8))
    model = build(size)
    path = data.cache_dir() / f"digits_classifier-{size}x{size}-v1.npz"
    weights = cache.load(path)
    if weights is None:
        print(f"training the digits classifier for {size}x{size}, once")
        train(model, *digits(size))
        weights = {f"{i:02d}": w for i, w in enumerate(model.get_weights())}
        cache.save(path, weights)
    model.set_weights([weights[name] for name in sorted(weights)])

    def see(images):
        x = tf.reduce_mean(data.to_float(images), axis=3, keepdims=True)
        x = tf.image.resize(x, [size, size], antialias=True)
        return Seen(*model(x))

    return Network(
        f"digits_classifier{size}",
        "trained on scikit-learn's digits",
        digest(weights),
        FEATURES,
        CLASSES,
        _NAMES,
        tf.function(see, input_signature=[tf.TensorSpec([None] * 4, tf.uint8)]),
    )


def build(size):
    """Images [n, size, size, 1] in [-1, 1] to features and logits."""
    seeds = iter(range(100))

    def weights():
        return keras.initializers.HeNormal(seed=next(seeds))

    x = images = keras.Input([size, size, 1])
    x = keras.layers.Conv2D(
        16, 3, padding="same", activation="relu", kernel_initializer=weights()
    )(x)
    while x.shape[1] > 4:
        x = keras.layers.Conv2D(
            2 * x.shape[3],
            4,
            2,
            padding="same",
            activation="relu",
            kernel_initializer=weights(),
        )(x)
    x = keras.layers.Flatten()(x)
    features = keras.layers.Dense(
        FEATURES, activation="relu", kernel_initializer=weights()
    )(x)
    logits = keras.layers.Dense(CLASSES, kernel_initializer=weights())(features)
    return keras.Model(images, [features, logits])


def train(model, images, labels, epochs=10, batch=64):
    """Fits the logits of `build`'s model to labels, in a fixed order."""
    head = keras.Model(model.input, model.outputs[1])
    head.compile(
        keras.optimizers.Adam(1e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=False,
    )
    # RandomState's stream is frozen; those of newer generators may change.
    random = np.random.RandomState(0)
    order = np.concatenate(
        [random.permutation(len(images)) for _ in range(epochs)]
    )
    head.fit(
        images[order], labels[order], batch_size=batch, shuffle=False, verbose=0
    )


def digits(size):
    """scikit-learn's digits, float32 [1797, size, size, 1], and labels."""
    from sklearn import datasets

    found = datasets.load_digits()
    images = np.round(found.images * (255 / 16)).astype(np.uint8)
    shape = (size, size, 1)
    images = np.stack([data.square(image, shape) for image in images])
    return data.to_float(images).numpy(), found.target

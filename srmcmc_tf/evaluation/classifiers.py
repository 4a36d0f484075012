"""Small classifiers that replace Inception where it does not suit.

Inception was trained on color photographs. Gray or tiny images use a classifier
of scikit-learn's 1,797 handwritten digits instead, and toys a classifier of the
regions of the toy; each is trained when it is first needed. Their values have
names of their own and are never called FID: they compare runs with each other,
not with the literature.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from srmcmc_tf.data import digits, pixels, toys
from srmcmc_tf.files import cache, digests, npz
from srmcmc_tf.sampling import rng
from srmcmc_tf.scores.features.network import Network, Outputs

logger = logging.getLogger(__name__)

FEATURES = 64


def digits_classifier(height: int) -> Network:
    """The classifier of digits, for images of a height.

    It uses the mean of the channels, at the largest of 8x8, 16x16 and 32x32
    that is not larger than the images.

    Args:
        height: of the images, in pixels.

    Returns:
        A `Network` of 64 features and 10 classes.
    """
    size = max(s for s in (8, 16, 32) if s <= max(height, 8))
    model = build([size, size, 1], classes=10)
    name = f"digits_classifier{size}"
    weights = _load_or_train(name, model, lambda: digit_examples(size))

    def function(images: tf.Tensor) -> Outputs:
        x = tf.reduce_mean(pixels.to_float(images), axis=3, keepdims=True)
        x = tf.image.resize(x, [size, size], antialias=True)
        return Outputs(*model(x))

    images = tf.TensorSpec([None] * 4, tf.uint8)
    return _network("digits", name, weights, model, function, images)


def toy_classifier(dataset: str, name: str) -> Network:
    """The classifier of the regions of a toy, for points.

    Args:
        dataset: "toy_1d" or "toy_2d".
        name: of the toy.

    Returns:
        A `Network` of 64 features and at most 10 classes.
    """
    toy = toys.get(dataset, name)
    centers = _centers(toy)
    d = centers.shape[1]
    model = build([d], classes=len(centers))
    name = f"{dataset}_{name}_classifier"
    weights = _load_or_train(name, model, lambda: region_examples(toy, centers))
    points = tf.TensorSpec([None, d], tf.float32)
    return _network(
        "toy", name, weights, model, lambda x: Outputs(*model(x)), points
    )


def build(shape: list[int], classes: int) -> keras.Model:
    """Builds a classifier of images [n, h, h, 1] or of points [n, d].

    Returns:
        A `keras.Model` with two outputs, features and logits.
    """
    seeds = iter(range(100))

    def layer(
        kind: type[keras.Layer],
        *args: Any,
        activation: str | None = "relu",
        **kwargs: Any,
    ) -> keras.Layer:
        weights = keras.initializers.HeNormal(seed=next(seeds))
        return kind(
            *args, activation=activation, kernel_initializer=weights, **kwargs
        )

    x = examples = keras.Input(shape)
    if len(shape) == 3:
        convolution = keras.layers.Conv2D
        x = layer(convolution, 16, 3, padding="same")(x)
        while x.shape[1] > 4:
            x = layer(convolution, 2 * x.shape[3], 4, 2, padding="same")(x)
        x = keras.layers.Flatten()(x)
    else:
        x = layer(keras.layers.Dense, FEATURES)(x)
    features = layer(keras.layers.Dense, FEATURES)(x)
    logits = layer(keras.layers.Dense, classes, activation=None)(features)
    return keras.Model(examples, [features, logits])


def train(
    model: keras.Model,
    examples: np.ndarray,
    labels: np.ndarray,
    epochs: int = 10,
    batch: int = 64,
) -> None:
    """Fits the logits of `build`'s model to labels, in a fixed order."""
    head = keras.Model(model.input, model.outputs[1])
    head.compile(
        keras.optimizers.Adam(1e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=False,
    )
    # The stream of RandomState is frozen; newer generators' may change.
    random = np.random.RandomState(0)
    order = np.concatenate(
        [random.permutation(len(examples)) for _ in range(epochs)]
    )
    head.fit(
        examples[order],
        labels[order],
        batch_size=batch,
        shuffle=False,
        verbose=0,
    )


def digit_examples(size: int) -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's digits, float32 [1797, size, size, 1], and labels."""
    images, labels = digits.load()
    shape = (size, size, 1)
    images = np.stack([pixels.square(image, shape) for image in images])
    return pixels.to_float(images).numpy(), labels


def region_examples(
    toy: toys.Toy, centers: np.ndarray, n: int = 4_000
) -> tuple[np.ndarray, np.ndarray]:
    """Draws of a toy, float32 [n, d], and the indices of the nearest center."""
    x = toys.draw(toy, n, rng.stream(0))
    distances = ((x[:, None] - centers) ** 2).sum(axis=2)
    return x, distances.argmin(axis=1)


def _centers(toy: toys.Toy) -> np.ndarray:
    """The centers of a toy's components; of ten clusters if it has more."""
    from sklearn.cluster import KMeans

    if len(toy.centers) <= 10:
        return toy.centers
    clusters = KMeans(10, n_init=1, random_state=0).fit(toy.centers)
    return clusters.cluster_centers_


def _load_or_train(
    name: str,
    model: keras.Model,
    examples: Callable[[], tuple[np.ndarray, np.ndarray]],
) -> Mapping[str, np.ndarray]:
    """Sets the weights of a model, cached or newly trained, and returns them.

    Training gives the same weights on the same type of processor, and very
    similar ones on others.
    """
    path = cache.cache_dir() / f"{name}-v1.npz"
    new = {f"{i:02d}": w for i, w in enumerate(model.get_weights())}
    weights = npz.load_shaped(path, {n: w.shape for n, w in new.items()})
    if weights is None:
        logger.info("training %s, once", name)
        train(model, *examples())
        weights = {f"{i:02d}": w for i, w in enumerate(model.get_weights())}
        npz.save_to_cache(path, weights)
    model.set_weights([weights[name] for name in sorted(weights)])
    return weights


def _network(
    kind: str,
    name: str,
    weights: Mapping[str, np.ndarray],
    model: keras.Model,
    function: Callable[[tf.Tensor], Outputs],
    examples: tf.TensorSpec,
) -> Network:
    names = {
        "fid": f"{kind}_classifier_distance",
        "kid": f"{kind}_classifier_kernel_distance",
        "is": f"{kind}_classifier_score",
    }
    return Network(
        name,
        "trained here",
        digests.of_arrays(weights),
        FEATURES,
        model.outputs[1].shape[1],
        names,
        tf.function(function, input_signature=[examples]),
    )

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import random_images, small_graph

import srmcmc_tf
from srmcmc_tf import energies
from srmcmc_tf.data import pixels
from srmcmc_tf.sampling.piecewise import piecewise_linear
from srmcmc_tf.scores.features import inception

IMAGES = pixels.to_float(random_images(6))


def features(f, x):
    """h of images."""
    return keras.Model(f.input, f.get_layer("h").output)(x).numpy()


def small(channels=1):
    return energies.frame(
        energies.filter_bank(2, 3), (8, 8, channels), scales=(1, 2)
    )


def deep():
    return energies.deep_frame(energies.convnet(8, 1, n_f=4), "lrelu_1")


def test_filters_see_contrast_and_the_delta_sees_gray():
    bank = energies.filter_bank()
    assert bank.shape == (7, 7, 19) and bank.dtype == np.float32
    means, norms = bank.mean((0, 1)), np.linalg.norm(bank, axis=(0, 1))
    np.testing.assert_allclose(means[:-1], 0, atol=1e-6)
    np.testing.assert_allclose(norms, 1, rtol=1e-5)
    assert bank[3, 3, -1] == bank[..., -1].sum() == 1


def test_a_gabor_filter_responds_most_to_its_own_direction():
    bank = energies.filter_bank(orientations=2)
    wave = np.cos(2 * np.pi * np.arange(32) / (2.5 * 7 / 4))
    across = np.tile(wave, (32, 1)).astype(np.float32)[None, ..., None]
    responses = np.abs(tf.nn.conv2d(across, bank[:, :, None], 1, "VALID"))
    energy = responses.mean(axis=(0, 1, 2))
    assert energy[5] > 5 * energy[7]  # wide, even: horizontal and vertical


def test_features_are_sums_of_rectified_responses():
    bank = np.zeros([1, 1, 1], np.float32)
    bank[:] = 2.0
    f = energies.frame(bank, (8, 8, 1), scales=(1,), thresholds=(0.0, 0.5))
    r = 2.0 * IMAGES
    rectified = [np.maximum(s * r - t, 0) for s in (1, -1) for t in (0, 0.5)]
    expected = np.stack([x.sum(axis=(1, 2, 3)) for x in rectified], axis=1)
    np.testing.assert_allclose(features(f, IMAGES), expected, rtol=1e-4)


def test_channels_do_not_mix():
    f = small(channels=2)
    x = np.concatenate([IMAGES, -0.5 * IMAGES], axis=-1)
    both = features(f, x).reshape(6, 2, 2, 3, 2, -1)
    one = features(small(), IMAGES).reshape(6, 2, 2, 3, -1)
    np.testing.assert_allclose(both[..., 0, :], one, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make", [small, deep])
def test_only_theta_is_learned_and_its_gradient_is_the_gap_of_h(make):
    f = make()
    assert len(f.trainable_variables) == 1 and piecewise_linear(f)
    theta = f.trainable_variables[0]
    theta.assign(0.01 * tf.random.stateless_normal(theta.shape, [1, 2]))
    model = srmcmc_tf.ShortRunEBM(f, K=3, noise=0.0)
    model.compile(keras.optimizers.SGD(1e-6))
    before = [w.numpy() for w in f.non_trainable_variables]
    start = theta.numpy()
    logs = model.train_on_batch(IMAGES, return_dict=True)
    gap = np.linalg.norm((start - theta.numpy()) / 1e-6)
    assert logs["gradient_norm"] == pytest.approx(gap, rel=0.05)
    for weight, old in zip(f.non_trainable_variables, before, strict=True):
        np.testing.assert_array_equal(weight, old)


def test_learning_brings_the_gap_of_h_towards_0():
    f = energies.frame(
        energies.filter_bank(2, 3), (8, 8, 1), scales=(1,), thresholds=(0.0,)
    )
    model = srmcmc_tf.ShortRunEBM(f, K=10, step_size=0.1)
    model.compile(keras.optimizers.Adam(0.02))
    x = np.tile(0.3 * IMAGES, (5, 1, 1, 1))
    history = model.fit(x, batch_size=30, epochs=40, verbose=0).history
    gap = history["gradient_norm"]
    assert np.mean(gap[-5:]) < 0.2 * gap[0]


def test_theta_draws_larger_images_with_the_same_slope():
    f, large = (
        energies.frame(energies.filter_bank(2, 3), (n, n, 1), scales=(1, 2))
        for n in (8, 16)
    )
    f.layers[-1].set_weights([np.ones([132, 1])])
    large.set_weights(f.get_weights())
    small = keras.ops.sum(f(IMAGES[:1]))
    tiled = keras.ops.sum(large(tf.tile(IMAGES[:1], [1, 2, 2, 1])))
    assert float(tiled) == pytest.approx(4 * float(small), rel=0.2)


def test_the_backbone_keeps_its_weights_and_stays_trainable():
    backbone = energies.convnet(8, 1, n_f=4)
    f = energies.deep_frame(backbone, "lrelu_1")
    assert all(layer.trainable for layer in backbone.layers)
    maps = keras.Model(backbone.input, backbone.get_layer("lrelu_1").output)
    np.testing.assert_allclose(
        features(f, IMAGES), np.sum(maps(IMAGES), (1, 2)), rtol=1e-3, atol=1e-4
    )


def test_a_saved_frame_draws_the_same(tmp_path):
    model = srmcmc_tf.ShortRunEBM(small(), K=2)
    model.compile()
    model.energy.layers[-1].set_weights([np.full([132, 1], 0.01)])
    model.save(tmp_path / "model.keras")
    again = srmcmc_tf.load(tmp_path / "model.keras")
    np.testing.assert_array_equal(again.sample([0, 1]), model.sample([0, 1]))


def test_inception_is_a_backbone(tmp_path):
    graph, see = small_graph()
    (tmp_path / "graph.pb").write_bytes(graph)
    network = inception.load(tmp_path / "graph.pb")
    # Its own signature is of uint8 images, which have no gradient.
    function = tf.function(network.function.python_function)

    class Inception(keras.layers.Layer):
        def call(self, x):
            return function((x + 1.0) * 127.5).features

        def compute_output_shape(self, shape):
            return shape[0], network.features

    backbone = keras.Sequential(
        [keras.Input((8, 8, 3)), Inception(name="pool_3")]
    )
    f = energies.deep_frame(backbone, "pool_3")
    images = random_images(3, 8, 3)
    x = pixels.to_float(images)
    np.testing.assert_allclose(features(f, x), see(images)[0], rtol=1e-4)
    model = srmcmc_tf.ShortRunEBM(f, K=1)
    model.compile()
    assert model.train_on_batch(x, return_dict=True)["gradient_norm"] > 0


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: energies.filter_bank(size=4), "size must be odd"),
        (
            lambda: energies.frame(
                energies.filter_bank(), (9, 9, 1), scales=(2,)
            ),
            "scale 2 must divide 9 and 9",
        ),
        (
            lambda: energies.frame(energies.filter_bank(), (16, 16, 1)),
            "scale 4: .* is smaller than a filter",
        ),
        (
            lambda: energies.deep_frame(energies.convnet(8), "top"),
            "no layer top: there are .*lrelu_0",
        ),
    ],
)
def test_mistakes_are_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()

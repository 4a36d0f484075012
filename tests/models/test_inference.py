"""A conditional model: data with labels to f, classes, chains and files."""

import re

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import two_inputs

import srmcmc_tf
from srmcmc_tf import data, energies
from srmcmc_tf.models import drawing

layers = keras.layers


def model(n_classes=3, energy=None, **settings):
    energy = energy or energies.convnet(8, 1, n_f=4)
    energy = energies.conditional(energy, n_classes)
    found = srmcmc_tf.ShortRunEBM(energy, **{"K": 3, **settings})
    found.compile()
    return found


@pytest.fixture(scope="module")
def trained():
    """Trained on images with a bright corner, another one for each class."""
    found = model(K=5, sigma=0.1)
    found.compile(found.adam(1e-2))
    found.fit(*examples(), epochs=4, batch_size=24, shuffle=False, verbose=0)
    return found


def examples(n=48):
    y = np.arange(n) % 3
    x = np.full((3, 8, 8, 1), -1.0, np.float32)
    x[0, :4, :4] = x[1, :4, 4:] = x[2, 4:, :4] = 1.0
    return x[y], y


def corners(x):
    """The class whose corner is the brightest."""
    parts = x[:, :4, :4], x[:, :4, 4:], x[:, 4:, :4]
    return np.argmax([np.mean(part, axis=(1, 2, 3)) for part in parts], axis=0)


def test_classes_are_learned_recognized_and_drawn(trained):
    x, y = examples()
    assert np.mean(trained.classify(x) == y) == 1.0
    assert trained.evaluate(x, y, verbose=0, return_dict=True)["accuracy"] == 1
    samples = trained.sample(range(24), labels=y[:24])
    assert np.mean(corners(samples) == y[:24]) == 1.0


def test_a_sample_is_named_by_seed_and_label(trained, monkeypatch):
    whole = trained.sample([4, 5, 6, 7, 8])
    np.testing.assert_array_equal(
        whole, trained.sample([4, 5, 6, 7, 8], labels=[1, 2, 0, 1, 2])
    )
    np.testing.assert_allclose(
        trained.sample([6], labels=0)[0], whole[2], atol=1e-5
    )
    assert not np.allclose(trained.sample([6], labels=1)[0], whole[2])
    monkeypatch.setattr(drawing, "BATCH", 2)
    np.testing.assert_allclose(
        trained.sample([4, 5, 6, 7, 8]), whole, atol=1e-5
    )


def test_f_is_that_of_images_and_labels(trained):
    x, y = examples(6)
    f = trained([x, y])
    np.testing.assert_allclose(
        f[:, 0], tf.gather(trained.f_by_class(x), y, batch_dims=1), rtol=1e-5
    )
    np.testing.assert_allclose(trained.predict([x, y], verbose=0), f, atol=1e-6)
    pairs = tf.data.Dataset.from_tensor_slices((x, y)).batch(6)
    np.testing.assert_allclose(trained.predict(pairs, verbose=0), f, atol=1e-6)


def test_interpolation_and_reconstruction_have_a_class(trained):
    z = trained.start([0, 1, 2])
    ends = trained.interpolate(z, z, [1.0], labels=[2, 0, 1])
    expected = trained.sample([0, 1, 2], labels=[2, 0, 1], noise=0.0)
    np.testing.assert_allclose(ends[:, 0], expected, atol=1e-5)
    x, y = examples(3)  # the classes that are found by default
    found = trained.reconstruct(x, iterations=0, seeds=[0, 1, 2])
    expected = trained.sample([0, 1, 2], labels=y, noise=0.0)
    np.testing.assert_allclose(found.x, expected, atol=1e-5)


def test_a_model_comes_back_from_a_file(trained, tmp_path):
    trained.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.n_classes == 3
    np.testing.assert_array_equal(again.sample([1, 2]), trained.sample([1, 2]))


def test_an_exported_model_has_labels(trained, tmp_path):
    trained.export(tmp_path / "model", verbose=False)
    again = tf.saved_model.load(str(tmp_path / "model"))
    x, y = (tf.constant(value) for value in examples(3))
    np.testing.assert_allclose(again.serve(x, y), trained([x, y]), atol=1e-6)
    seeds = tf.constant([4, 5, 6], tf.int64)
    np.testing.assert_allclose(
        again.sample(seeds, y), trained.sample([4, 5, 6], labels=y), atol=1e-5
    )


def test_a_model_of_two_inputs_is_a_conditional_energy(tmp_path):
    found = srmcmc_tf.ShortRunEBM(two_inputs(), K=2, n_classes=3)
    found.compile()
    x, y = examples(6)
    images = np.uint8(127.5 * (x + 1))
    logs = found.fit(data.batches(images, y, batch_size=6), verbose=0).history
    assert np.isfinite(logs["loss"]).all() and "accuracy" not in logs
    assert found.classify(x).shape == (6,)
    assert found.sample([0, 1], labels=[2, 2]).shape == (2, 8, 8, 1)


def test_each_stage_of_a_pyramid_has_the_class():
    stages = [
        srmcmc_tf.Stage(
            energies.conditional(energies.pooled(size, 1, n_f=2), 3), K=2
        )
        for size in (4, 8)
    ]
    found = srmcmc_tf.ShortRunEBM(stages)
    found.compile(found.adam(1e-2))
    found.fit(*examples(6), epochs=2, batch_size=6, verbose=0)
    assert found.n_classes == 3
    coarse = found.trace([1], [2], labels=0), found.trace([1], [2], labels=2)
    assert not np.allclose(*coarse)
    with pytest.raises(ValueError, match="the same n_classes"):
        plain = srmcmc_tf.Stage(energies.pooled(8, 1, n_f=2), K=2)
        srmcmc_tf.ShortRunEBM([stages[0], plain])


def test_chains_that_stop_early_keep_their_labels(trained):
    never = srmcmc_tf.ShortRunEBM(trained.energy, K=5, stop="slope")
    seeds = [3, 4, 5, 6]
    y = [2, 1, 0, 2]
    np.testing.assert_allclose(
        never.sample(seeds, labels=y),
        trained.sample(seeds, labels=y),
        atol=1e-5,
    )


@pytest.mark.parametrize(
    "make, line",
    [
        (
            lambda: srmcmc_tf.ShortRunEBM(two_inputs()),
            "two inputs, images and labels: give n_classes=",
        ),
        (
            lambda: srmcmc_tf.ShortRunEBM(energies.mlp(2, n_f=2), n_classes=3),
            "energies.conditional(energy, 3)",
        ),
        (lambda: model(n_classes=2, start="data"), "not for a conditional"),
        (
            lambda: srmcmc_tf.ShortRunEBM(
                energies.conditional(energies.mlp(2, n_f=2), 3), n_classes=4
            ),
            "a head of 3 classes",
        ),
    ],
)
def test_what_cannot_be_conditional_is_one_line(make, line):
    with pytest.raises(ValueError, match=re.escape(line)) as error:
        make()
    assert "\n" not in str(error.value)


def test_a_model_without_classes_classifies_nothing(tiny_model):
    with pytest.raises(ValueError, match="not conditional"):
        tiny_model.classify(np.zeros((1, 8, 8, 1), np.float32))
    with pytest.raises(ValueError, match="not conditional"):
        tiny_model.sample([1], labels=[2])

"""Classifiers of ours: they tell digits, and regions of toys, apart."""

import logging

import numpy as np
import pytest
from helpers import random_images

from srmcmc_tf.data import toys
from srmcmc_tf.evaluation import classifiers, image_sets, measure, reference
from srmcmc_tf.sampling import rng


def test_the_classifier_recognizes_digits_it_was_not_trained_on():
    images, labels = classifiers.digit_examples(8)
    model = classifiers.build([8, 8, 1], 10)
    classifiers.train(model, images[:1400], labels[:1400])
    guesses = model(images[1400:])[1].numpy().argmax(axis=1)
    assert (guesses == labels[1400:]).mean() > 0.9


def test_a_classifier_is_trained_once_and_says_so(
    caplog, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    caplog.set_level(logging.INFO)
    first = classifiers.digits_classifier(8)
    again = classifiers.digits_classifier(8)
    assert caplog.text.count("training digits_classifier8, once") == 1
    assert first.digest == again.digest
    images = random_images(4, 16, 3)  # any size, any number of channels
    np.testing.assert_array_equal(first(images).logits, again(images).logits)
    assert first(images).features.shape == (4, first.features)
    assert "fid" not in first.names.values()


@pytest.mark.parametrize("name", ["mixtures", "pinwheel"])
def test_draws_of_a_toy_are_closer_to_it_than_noise(name):
    network = classifiers.toy_classifier("toy_2d", name)
    toy = toys.get("toy_2d", name)
    real = toys.draw(toy, 1000, rng.stream(1))
    real = image_sets.from_array(real, name, "observed")
    known = reference.from_images(real, network)

    def distance(points):
        fake = image_sets.from_array(points, "fake", "seeds")
        found = measure.measure(fake, network, known, ["fid"])
        return found["toy_classifier_distance"]["value"]

    noise = rng.stream(3).uniform([1000, 2]).numpy()
    assert 5 * distance(toys.draw(toy, 1000, rng.stream(2))) < distance(noise)

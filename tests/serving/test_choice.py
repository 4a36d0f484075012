import numpy as np
import pytest
import tensorflow as tf
from helpers import random_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.models import energies
from srmcmc_tf.sampling.starts import Start
from srmcmc_tf.serving import choice, signatures


def model(**settings):
    return srmcmc_tf.ShortRunEBM(energies.convnet(8, 1, n_f=4), K=2, **settings)


def test_a_plain_model_has_all_signatures():
    assert choice.of_model(model()) == signatures.SIGNATURES


def test_chains_that_cannot_be_inverted_have_no_reconstruction():
    names = set(choice.of_model(model(kernel="mala")))
    assert names == {"sample", "energy", "energy_uint8", "energy_png"}
    assert set(choice.described(names)) == names


def test_samples_that_start_from_images_are_those_of_python():
    found = model(start=Start(kind="degraded"))
    chosen = choice.of_model(found)
    assert not any(name.startswith("reconstruct") for name in chosen)
    limits = signatures.default_limits(found)
    functions = signatures.build(found, limits, chosen)
    images = random_images(2)
    x = pixels.to_float(images)
    expected = found.sample([5, 6], images=x)
    seeds, K = tf.constant([5, 6], tf.int64), tf.constant(2)
    pngs = tf.stack([tf.io.encode_png(image) for image in images])
    for name, given in (
        ("sample", x),
        ("sample_uint8", tf.constant(images)),
        ("sample_png", pngs),
    ):
        ends = functions[name](given, seeds, K)["images"]
        np.testing.assert_allclose(ends, expected, atol=1e-5)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="as many as seeds"
    ):
        functions["sample"](x, seeds[:1], K)


def test_a_conditional_model_is_served_with_labels_and_a_classifier():
    energy = srmcmc_tf.energies.conditional(energies.convnet(8, 1, n_f=4), 3)
    for weight in energy.trainable_variables:
        weight.assign(weight + 0.1 * np.arange(weight.shape[-1]))
    found = srmcmc_tf.ShortRunEBM(energy, K=2)
    chosen = choice.of_model(found)
    assert set(choice.described(chosen)) == set(chosen)
    chosen = {n: chosen[n] for n in ("sample", "energy", "classify_png")}
    assert chosen["sample"].inputs == ("seeds", "labels", "K")
    limits = signatures.default_limits(found)
    functions = signatures.build(found, limits, chosen)
    images, y = random_images(2), tf.constant([2, 0], tf.int64)
    x = pixels.to_float(images)
    ends = functions["sample_default"](tf.constant([5, 6], tf.int64), y)
    expected = found.sample([5, 6], labels=y)
    np.testing.assert_allclose(ends["images"], expected, atol=1e-5)
    f = functions["energy"](x, y)["f"]
    np.testing.assert_allclose(f, found([x, y])[:, 0], atol=1e-5)
    pngs = tf.stack([tf.io.encode_png(image) for image in images])
    classes = functions["classify_png"](pngs)
    np.testing.assert_array_equal(classes["labels"], found.classify(x))
    assert classes["f"].shape == (2, 3)
    for bad, line in (([3, 0], "labels must be from 0 to 2"), ([1], "one for")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=line):
            functions["energy"](x, tf.constant(bad, tf.int64))

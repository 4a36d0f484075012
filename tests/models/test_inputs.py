import re
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import random_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.models import inputs

SHAPE = (8, 8, 1)
PIXELS = random_images(8)
X = pixels.to_float(PIXELS).numpy()


@pytest.fixture(scope="module")
def model():
    """A model whose updates change nothing."""
    energy = srmcmc_tf.energies.convnet(8, channels=1, n_f=2)
    model = srmcmc_tf.ShortRunEBM(energy, K=1)
    model.compile(keras.optimizers.SGD(0.0))
    return model


@pytest.mark.parametrize(
    "given",
    [
        X,
        X.astype(np.float64),
        tf.constant(X),
        PIXELS,
        {"image": PIXELS, "label": np.zeros(8)},
        (X, np.zeros(8)),
        [X],
        list(X),
    ],
    ids="float32 float64 tensor uint8 dict tuple one list".split(),
)
def test_whatever_holds_the_images_means_the_same(model, given):
    np.testing.assert_allclose(inputs.images(given, SHAPE), X, atol=1e-6)
    assert np.shape(inputs.prepare(given, SHAPE)) == X.shape
    np.testing.assert_allclose(model(given), model(X), atol=1e-6)


def test_fit_evaluate_and_predict_take_uint8_dicts_and_labels(model):
    expected = float(model.evaluate(X, verbose=0, return_dict=True)["f_data"])
    record = {"image": PIXELS, "label": np.zeros(8)}
    for given in (PIXELS, record, (X, np.zeros(8))):
        whole = tf.data.Dataset.from_tensors(given)
        for data in (given, whole):
            history = model.fit(data, verbose=0, shuffle=False).history
            assert history["f_data"][0] == pytest.approx(expected, abs=1e-5)
            logs = model.evaluate(data, verbose=0, return_dict=True)
            assert float(logs["f_data"]) == pytest.approx(expected, abs=1e-5)
            f = model.predict(data, verbose=0)
            np.testing.assert_allclose(f, model(X), atol=1e-5)


@pytest.mark.parametrize(
    "given, kind, message",
    [
        (X[..., 0], ValueError, "[n, 8, 8, 1], not [8, 8, 8]: add the axis of"),
        (X[0], ValueError, "not [8, 8, 1]: add the axis of the batch"),
        (X[:, :4], ValueError, "shape [n, 8, 8, 1], not [8, 4, 8, 1]"),
        ({"x": X}, ValueError, "the key 'image', not only ['x']"),
        (X.astype(np.int32), TypeError, "or uint8 images, not int32"),
        (np.array([["a"]]), TypeError, "array of floats about [-1, 1]"),
        ("images", TypeError, "not <U6"),
        ([X[0], X[:, :4]], ValueError, "the elements differ in shape"),
        (((X, X), (X, X)), TypeError, "must be (images, labels)"),
    ],
)
def test_what_is_not_images_is_one_line_with_both_sides(given, kind, message):
    with pytest.raises(kind, match=re.escape(message)) as error:
        inputs.images(given, SHAPE)
    assert "\n" not in str(error.value)


def test_uint8_points_and_series_are_not_taken_for_pixels():
    with pytest.raises(TypeError, match="points must be floats .* not uint8"):
        inputs.images(np.zeros([4, 2], np.uint8), (2,), "points")


@pytest.mark.parametrize("as_dataset", [False, True])
@pytest.mark.parametrize(
    "scale, remedy", [(1.0, r"2 \* x - 1"), (255.0, r"x / 127.5 - 1")]
)
def test_another_range_is_a_warning_with_the_remedy(
    model, scale, remedy, as_dataset
):
    x = (X + 1) / 2 * np.float32(scale)
    data = tf.data.Dataset.from_tensors(x) if as_dataset else x
    with pytest.warns(UserWarning, match=remedy):
        model.evaluate(data, verbose=0)


def test_noisy_images_and_those_of_the_own_pipeline_give_no_warning(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        inputs.check_range(X + 0.1)
        batches = srmcmc_tf.data.batches(PIXELS, batch_size=4)
        assert inputs.prepare(batches, SHAPE) is batches


def test_weights_of_examples_are_rejected_not_ignored(model):
    with pytest.raises(ValueError, match="sample_weight .* no meaning"):
        model.fit(X, np.zeros(8), sample_weight=np.ones(8), verbose=0)

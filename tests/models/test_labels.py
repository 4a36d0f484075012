import re

import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.models import labels

SHAPE = (8, 8, 1)
X = np.zeros((4, *SHAPE), np.float32)


def test_a_seed_has_the_class_seed_mod_n_by_default():
    (y,) = labels.of_seeds([0, 7, 12, -1], None, 5)
    np.testing.assert_array_equal(y, [0, 2, 2, 4])
    assert labels.of_seeds([0, 7], None, 0) == []


def test_one_label_is_that_of_all():
    (y,) = labels.of_seeds([0, 7, 9], 3, 5)
    np.testing.assert_array_equal(y, [3, 3, 3])


@pytest.mark.parametrize(
    "given, n_classes, line",
    [
        ([0, 5], 5, "label 5: must be from 0 to 4"),
        ([0, -1], 5, "label -1: must be from 0 to 4"),
        ([1, 2, 3], 5, "3 labels for 2: one for each"),
        ([[1, 2]] * 2, 5, "labels must have shape [n]"),
        ([1, 2], 0, "the model is not conditional"),
    ],
)
def test_labels_that_make_no_sense_are_one_line(given, n_classes, line):
    with pytest.raises(ValueError, match=re.escape(line)) as error:
        labels.of_seeds([0, 1], given, n_classes)
    assert "\n" not in str(error.value)


def test_labels_that_are_no_integers_are_refused():
    with pytest.raises(TypeError, match="integers from 0 to 4, not float64"):
        labels.checked([0.5], 5)


def test_a_label_out_of_range_ends_a_graph():
    check = tf.function(lambda y: labels.checked(y, 5))
    np.testing.assert_array_equal(check(tf.constant([4])), [4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="from 0 to 4"):
        check(tf.constant([5]))


@pytest.mark.parametrize(
    "x, y",
    [
        (X, np.arange(4)),
        ((X, np.arange(4)), None),
        ([X, np.arange(4)[:, None]], None),
        ({"image": X, "label": np.arange(4)}, None),
    ],
)
def test_labels_beside_or_within_the_images_are_found(x, y):
    images, found = labels.pair(x, y, SHAPE, 5)
    assert images.shape == X.shape
    np.testing.assert_array_equal(found, np.arange(4))


@pytest.mark.parametrize(
    "x",
    [
        X,
        tf.constant(X),
        {"image": X},
        tf.data.Dataset.from_tensor_slices(X).batch(2),
    ],
)
def test_data_without_labels_are_one_line(x):
    with pytest.raises(ValueError, match="there are no labels"):
        labels.pair(x, None, SHAPE, 5)


def test_a_model_without_classes_ignores_the_labels_of_data():
    images, y = labels.pair((X, np.arange(4)), None, SHAPE, 0)
    assert images is X and y is None

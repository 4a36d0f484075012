"""Records: values with n, reference, errors and warnings, also as text."""

import pytest
from helpers import random_images

from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import image_sets, measure, reference

REAL = image_sets.from_array(random_images(60), "real", "observed")
FAKE = image_sets.from_array(random_images(40, seed=1) // 2, "fake", "seeds")


def measured(counting, metrics, fake=FAKE, **changes):
    network = counting.network()._replace(**changes)
    known = reference.from_images(REAL, counting.network())
    return measure.measure(fake, network, known, metrics)


def test_a_record_has_the_context_of_its_value(counting):
    found = measured(counting, ["fid", "kid", "is"])
    assert list(found) == ["distance", "kernel_distance", "score"]
    against = {"name": "real", "split": "observed", "n": 60}
    value = found["distance"].pop("value")
    assert 0 < found["distance"].pop("standard_error") < value
    assert found["distance"] == {"n": 40, "reference": against}
    (alone,) = measured(counting, ["fid"]).values()
    assert "standard_error" not in alone
    assert found["kernel_distance"].keys() == {
        "value",
        "standard_error",
        "n",
        "reference",
    }
    assert found["score"]["splits"] == 10


def test_records_are_described_in_words():
    against = {"name": "digits", "split": "observed", "n": 1597}
    kid = {"value": 0.5, "standard_error": 0.1, "n": 10, "reference": against}
    assert measure.describe("kid", kid) == (
        "KID 0.5000 +- 0.1000 (standard error); n=10, against digits, "
        "observed, n=1,597"
    )
    unknown = {**kid, "reference": {**against, "n": 0}, "warning": "too few"}
    assert measure.describe("kid", unknown).endswith(
        "n=unknown\n    warning: too few"
    )
    score = {"value": 2, "standard_deviation": 1, "n": 9, "splits": 3}
    assert "(standard deviation); n=9 in 3 splits" in measure.describe(
        "digits_classifier_score", score
    )
    mse = {"value": 2, "n": 9, "range": "[-1, 1]"}
    mse |= {"untrained": 1, "n_untrained": 5}
    assert measure.describe("mse", mse).endswith(
        "n=9, per pixel and channel, of images in [-1, 1]; "
        "1.0000 with untrained weights (n=5)"
    )
    missing = {"value": None, "n": 9, "reason": "no images"}
    assert measure.describe("mse", missing) == "MSE: none, no images"


def test_too_few_images_for_the_features_are_warned_of(counting):
    found = measured(counting, ["fid", "is"], FAKE._replace(n=3))
    assert (
        "n=3 gives a singular covariance of 3 features"
        in (found["distance"]["warning"])
    )
    assert "warning" not in found["score"]


def test_what_cannot_be_computed_has_a_reason_instead(counting):
    network = counting.network()._replace(classes=0)
    known = reference.from_images(REAL, network)._replace(features=None)
    found = measure.measure(FAKE, network, known, ["kid", "is"])
    assert [record["value"] for record in found.values()] == [None, None]
    assert found["kernel_distance"]["reason"].startswith("real has no features")
    assert "nowhere has no softmax layer" in found["score"]["reason"]


def test_the_score_needs_no_reference_but_distances_do(counting):
    assert measure.measure(FAKE, counting.network(), None, ["is"])
    with pytest.raises(ValueError, match="needs no reference"):
        measure.measure(FAKE, counting.network(), None, ["fid"])


def test_a_single_image_is_refused(counting):
    with pytest.raises(UserError, match="1 image of fake: too few"):
        measured(counting, ["fid"], FAKE._replace(n=1))


def test_a_stopped_measurement_has_no_records(counting):
    found = measure.measure(
        FAKE, counting.network(), None, ["is"], stop=lambda: True
    )
    assert found is None

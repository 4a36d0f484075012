"""Metrics of images from anywhere: the same images, the same values."""

import numpy as np
import pytest
import tensorflow as tf
from helpers import random_images, small_graph, write_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import compare

REAL = random_images(90, 8, 3)
FAKE = random_images(70, 8, 3, seed=2) // 2


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    content, see = small_graph()
    path = tmp_path_factory.mktemp("graph") / "graph.pb"
    path.write_bytes(content)
    return str(path), see


@pytest.fixture
def floats():
    return pixels.to_float(FAKE).numpy()


def drawing(images):
    """A function of n that returns the next n images."""
    done = 0

    def draw(n):
        nonlocal done
        done += n
        return images[done - n : done]

    return draw


def test_every_kind_of_images_gives_the_same_fid(graph, floats, tmp_path):
    path, see = graph
    write_images(tmp_path / "folder", FAKE)
    np.savez(tmp_path / "fake.npz", x=FAKE)
    labelled = tf.data.Dataset.from_tensor_slices((floats, np.zeros(70)))
    real, fake = (see(images)[0].astype(np.float64) for images in (REAL, FAKE))
    moments = srmcmc_tf.metrics.FID(5)
    moments.update_state(real)
    expected = srmcmc_tf.metrics.FID(5, moments.moments())
    expected.update_state(fake)
    for images in (
        FAKE,
        floats,
        tf.constant(floats),
        tmp_path / "folder",
        str(tmp_path / "fake.npz"),
        labelled,
        labelled.batch(32),
        labelled.map(lambda x, y: {"image": x, "label": y}),
        drawing(floats),
    ):
        n = 70 if callable(images) else None
        found = compare.fid(REAL, images, n=n, inception=path)
        assert found == pytest.approx(float(expected.result()), rel=1e-4)


def test_a_function_may_be_either_side(graph):
    path, _ = graph
    expected = compare.fid(REAL[:70], FAKE, inception=path)
    found = compare.fid(drawing(REAL), drawing(FAKE), n=70, inception=path)
    assert found == pytest.approx(expected, rel=1e-6)
    as_many = drawing(FAKE)  # by default as many as are in the other
    assert compare.fid(REAL[:70], as_many, inception=path) == pytest.approx(
        expected, rel=1e-6
    )


def test_a_function_that_draws_the_same_images_again_is_refused(graph):
    def draw(n):
        return FAKE[:n]

    for given in ((REAL, draw), (draw, FAKE)):
        with pytest.raises(ValueError, match="take new seeds in every call"):
            compare.fid(*given, n=70, inception=graph[0])


def test_statistics_may_be_real(graph, tmp_path):
    path, see = graph
    features = see(REAL)[0]
    statistics = {"mu": features.mean(0), "sigma": np.cov(features.T)}
    np.savez(tmp_path / "known.npz", **statistics)
    found = compare.fid(tmp_path / "known.npz", FAKE, inception=path)
    expected = compare.fid(REAL, FAKE, inception=path)
    assert found == pytest.approx(expected, rel=1e-4)
    with pytest.raises(ValueError, match="no kid: known has no features"):
        compare.kid(tmp_path / "known.npz", FAKE, inception=path)


def test_kid_and_score_have_errors(graph):
    value, error = compare.kid(REAL, FAKE, inception=graph[0])
    assert value > 0 and error > 0
    assert compare.kid(REAL, REAL, inception=graph[0])[0] < value
    score, deviation = compare.inception_score(FAKE, n=50, inception=graph[0])
    assert 1 <= score <= 4 and deviation >= 0


def test_a_model_draws_its_seeds(tiny_model, caplog):
    x = tiny_model.sample(range(80))
    real = random_images(80)
    found = compare.fid(real, tiny_model)
    assert found == pytest.approx(compare.fid(real, x.numpy()), rel=1e-6)
    assert "gray images: this is a digits_classifier_distance" in caplog.text


def test_small_n_is_warned_of(graph, caplog):
    compare.fid(REAL, FAKE[:4], inception=graph[0])
    assert "n=4 gives a singular covariance" in caplog.text
    compare.kid(REAL, FAKE, inception=graph[0])
    assert "n=70 is small" in caplog.text


def test_floats_in_the_unit_range_are_warned_of(graph, floats, caplog):
    compare.fid(REAL, (floats + 1) / 2, inception=graph[0])
    assert "`fake` has floats in [0, 1]" in caplog.text
    assert "pass 2 * x - 1" in caplog.text


@pytest.mark.parametrize(
    "fake, n, message",
    [
        (FAKE.transpose(0, 3, 1, 2), None, r"shape \(70, 3, 8, 8\), not"),
        (FAKE.astype(np.int64), None, "int64, neither uint8 nor floats"),
        (FAKE.astype(np.float32), None, "floats up to 127: scale them"),
        (FAKE * np.float32("nan"), None, "infinite or NaN"),
        (FAKE, 71, "n=71, but `fake` has only 70"),
        (FAKE[:, :4], None, "both must have one size"),
        (lambda n: FAKE[: n - 1], None, r"`fake\(64\)` returned 63"),
        ("missing", None, "missing: no such file or folder"),
        (
            tf.data.Dataset.from_tensors(FAKE[0]).repeat(),
            None,
            "endless dataset: give n=",
        ),
    ],
    ids=[
        "channels_first",
        "int64",
        "large_floats",
        "nan",
        "too_few",
        "other_size",
        "short_function",
        "missing_path",
        "endless_dataset",
    ],
)
def test_mistakes_are_one_line_without_flags(fake, n, message, graph):
    with pytest.raises((ValueError, UserError), match=message) as error:
        compare.fid(REAL, fake, n=n, inception=graph[0])
    assert "--" not in str(error.value) and "\n" not in str(error.value)


def test_a_function_alone_needs_a_number(graph):
    with pytest.raises(ValueError, match="give n="):
        compare.inception_score(drawing(FAKE), inception=graph[0])

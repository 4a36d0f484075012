"""Evaluation of runs and of image sets: complete records, nothing twice."""

import dataclasses
import json
import pathlib

import numpy as np
import pytest
from helpers import (
    SHARED,
    TINY,
    random_images,
    small_graph,
    untrained_run,
    write_images,
)

from srmcmc_tf.config import presets
from srmcmc_tf.data import examples
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import evaluate, feed, image_sets
from srmcmc_tf.files import cache
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import train

DIGITS = dataclasses.replace(presets.load("digits"), **TINY, n_left_out=10)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "tiny"
    train.train(DIGITS, path)
    return Run(path)


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(small_graph()[0])
    return path


def stored(out):
    return json.loads((pathlib.Path(out) / "evaluation.json").read_text())


def test_a_gray_run_is_measured_under_other_names_than_fid(run):
    found = evaluate.evaluate_run(run, n=100)
    assert list(found) == [
        "digits_classifier_distance",
        "digits_classifier_kernel_distance",
        "digits_classifier_score",
        "mse",
    ]
    for record in found.values():
        assert np.isfinite(record["value"])
        assert record["n"] == (10 if "range" in record else 100)
    assert found["digits_classifier_distance"]["reference"] == {
        "name": "digits",
        "split": "observed",
        "n": 1597,
    }
    assert stored(run.generated_directory)["records"] == found


def test_a_run_may_be_compared_with_other_images(run, tmp_path):
    np.savez(tmp_path / "all.npz", x=examples.load(run.config).observed)
    options = dict(n=50, metrics=["fid"])
    own = evaluate.evaluate_run(run, out=tmp_path / "own", **options)
    real = tmp_path / "all.npz"
    same = evaluate.evaluate_run(run, real=real, out=tmp_path, **options)
    name = "digits_classifier_distance"
    np.testing.assert_allclose(same[name]["value"], own[name]["value"], 1e-4)
    assert same[name]["reference"]["name"] == "all"
    np.savez(tmp_path / "large.npz", x=random_images(4, 16, 1))
    with pytest.raises(UserError, match="both must have one size"):
        evaluate.evaluate_run(run, real=tmp_path / "large.npz", **options)


def test_gray_images_have_the_fid_of_their_three_equal_channels(
    graph, tmp_path
):
    values = []
    for channels in (1, 3):
        out = tmp_path / str(channels)
        out.mkdir()
        for i, name in enumerate(("real", "fake")):
            gray = random_images(40, 8, 1, seed=i)
            np.savez(out / f"{name}.npz", x=np.repeat(gray, channels, 3))
        sets = (out / "real.npz", out / "fake.npz")
        found = evaluate.evaluate_sets(*sets, out=out, inception=graph)
        values.append([found[name]["value"] for name in ("fid", "kid", "is")])
    np.testing.assert_array_equal(*values)


def test_inception_measures_a_gray_run_if_it_is_given(run, graph, tmp_path):
    options = dict(out=tmp_path, n=20, metrics=["fid"], inception=graph)
    assert evaluate.evaluate_run(run, **options)["fid"]["value"] > 0


def test_a_toy_is_measured_by_its_regions(tmp_path):
    changes = dict(toy="rings", n_examples=300, updates=2)
    settings = {**TINY, **changes}
    config = dataclasses.replace(presets.load("toy_2d"), **settings)
    train.train(config, tmp_path)
    found = evaluate.evaluate_run(Run(tmp_path), n=200)
    assert found["toy_classifier_distance"]["reference"]["n"] == 300
    assert 1 <= found["toy_classifier_score"]["value"] <= 10
    assert found["mse"]["value"] is None


def test_what_was_measured_is_not_measured_again(run, tmp_path, monkeypatch):
    def evaluated(n):
        return evaluate.evaluate_run(run, out=tmp_path, n=n, metrics=["fid"])

    first = evaluated(90)

    def never(*args, **kwargs):
        raise AssertionError("measured again")

    monkeypatch.setattr(evaluate.measure, "measure", never)
    assert evaluated(90) == first
    with pytest.raises(AssertionError):
        evaluated(91)


def test_an_interrupted_evaluation_is_resumed(counting, monkeypatch, tmp_path):
    monkeypatch.setattr(feed, "SAVE_SECONDS", 0)
    monkeypatch.setattr(evaluate, "network_for", lambda *_: counting.network())
    np.savez(tmp_path / "real.npz", random_images(150))
    np.savez(tmp_path / "fake.npz", random_images(200, seed=1))

    def evaluated(out):
        return evaluate.evaluate_sets(
            tmp_path / "real.npz", tmp_path / "fake.npz", out=tmp_path / out
        )

    whole = evaluated("whole")
    assert counting.images == 350
    counting.images, counting.interrupt_after = 0, 128
    with pytest.raises(KeyboardInterrupt):
        evaluated("part")  # the reference is cached
    counting.interrupt_after = None
    assert evaluated("part") == whole and counting.images == 200
    assert [p.name for p in (tmp_path / "part").iterdir()] == [
        "evaluation.json"
    ]


def test_sets_are_compared_by_the_given_graph(graph, tmp_path):
    write_images(tmp_path / "folder", random_images(40, 8, 3))
    np.savez(tmp_path / "same.npz", x=random_images(40, 8, 3))
    np.savez(tmp_path / "other.npz", x=random_images(60, 8, 3, seed=9) // 2)

    def evaluated(real, fake):
        return evaluate.evaluate_sets(
            tmp_path / real, tmp_path / fake, out=tmp_path, inception=graph
        )

    assert abs(evaluated("folder", "same.npz")["fid"]["value"]) < 1e-6
    found = evaluated("folder", "other.npz")
    assert list(found) == ["fid", "kid", "is"]
    assert found["fid"]["value"] > 0.01 and found["kid"]["value"] > 0.001

    # The statistics alone are enough for FID.
    (path,) = cache.cache_dir().glob("reference/folder-*")
    with np.load(path) as arrays:
        kept = {name: arrays[name] for name in ("mu", "sigma")}
    np.savez(tmp_path / "statistics.npz", **kept)
    known = evaluated("statistics.npz", "other.npz")
    assert known["fid"]["value"] == found["fid"]["value"]
    assert known["kid"]["value"] is None


def test_sets_that_cannot_be_compared_are_refused(graph, tmp_path):
    np.savez(tmp_path / "a.npz", x=random_images(4, 8, 3))
    np.savez(tmp_path / "b.npz", x=random_images(4, 16, 3))
    np.savez(tmp_path / "one.npz", x=random_images(1, 8, 3))
    for real, fake, n, message in (
        ("b", "a", None, "both must have one size"),
        ("a", "one", None, "1 image of one: too few"),
        ("one", "a", None, "one has 1 image"),
        ("a", "a", 5, "only 4 images"),
    ):
        with pytest.raises(UserError, match=message) as error:
            evaluate.evaluate_sets(
                tmp_path / f"{real}.npz",
                tmp_path / f"{fake}.npz",
                out=tmp_path,
                n=n,
                inception=graph,
            )
        assert "\n" not in str(error.value)


def test_a_run_is_measured_the_same_during_training(run):
    observed = examples.load(DIGITS).observed
    real = image_sets.from_array(observed, "digits", "observed")
    network = evaluate.network_for(real.shape)
    measure, by = evaluate.during_training(real, network, 100)
    model = run.load_model()
    found = measure(model, lambda: False)
    wanted = evaluate.evaluate_run(run, n=100, metrics=["fid"])
    assert found[by]["value"] == wanted[by]["value"]
    assert measure(model, lambda: True) is None


def test_missing_weights_are_reported(tmp_path):
    with pytest.raises(UserError, match="missing.pb: No such file"):
        evaluate.network_for((32, 32, 3), tmp_path / "missing.pb")


STATISTICS = SHARED / "data" / "cifar10_train_50000_pool3.npz"
INCEPTION = SHARED / "data" / "inception_2015_pool3_float16.npz"
CIFAR10 = pathlib.Path("~/tensorflow_datasets/cifar10").expanduser()


@pytest.mark.slow
@pytest.mark.skipif(
    not (STATISTICS.exists() and CIFAR10.exists()),
    reason=f"needs {STATISTICS} and a prepared {CIFAR10}",
)
def test_cifar10_test_against_training_images_gives_the_known_fid(tmp_path):
    import tensorflow_datasets as tfds

    images = tfds.as_numpy(tfds.load("cifar10", split="test", batch_size=-1))
    np.savez(tmp_path / "test.npz", x=images["image"])
    found = evaluate.evaluate_sets(
        STATISTICS,
        tmp_path / "test.npz",
        out=tmp_path,
        metrics=["fid"],
        inception=INCEPTION,
    )
    assert found["fid"]["n"] == 10_000
    assert abs(found["fid"]["value"] - 3.151) < 0.02


def test_accuracy_is_of_conditional_runs_only(tiny_run, tmp_path):
    with pytest.raises(UserError, match="accuracy: .* is not conditional"):
        evaluate.evaluate_run(tiny_run, metrics=["accuracy"], out=tmp_path)
    run = untrained_run(tmp_path / "run", conditional="on", classes=10)
    options = dict(metrics=["accuracy"], n=2, out=tmp_path)
    found = evaluate.evaluate_run(run, **options)
    assert found["accuracy"]["n"] == 200
    assert 0 <= found["accuracy"]["value"] <= 1

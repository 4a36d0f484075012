"""Evaluation during training: the best model is kept, and resumed exactly."""

import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf
from helpers import TINY, random_images, write_images
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator,
)

from srmcmc_tf.config import presets
from srmcmc_tf.data import examples
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import evaluate
from srmcmc_tf.runs import checkpoints, loading
from srmcmc_tf.training import evaluation, train

DIGITS = dataclasses.replace(presets.load("digits"), **TINY, n_left_out=10)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def one_cache(home, monkeypatch, cache):
    """One cache for all tests here: the classifier is trained once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))


EVALUATED = dataclasses.replace(
    DIGITS, updates=12, checkpoint_every=5, evaluate_every=3, evaluate_n=80
)


def evaluations(workdir):
    return json.loads((workdir / "evaluations.json").read_text())


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory, home):
    path = tmp_path_factory.mktemp("runs") / "evaluated"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home))
        train.train(EVALUATED, path)
    return path


def test_a_run_is_evaluated_on_its_way_and_the_best_is_kept(evaluated):
    found = evaluations(evaluated)
    assert list(found) == ["3", "6", "9", "12"]
    name = "digits_classifier_distance"
    best = min(found, key=lambda update: found[update][name]["value"])
    assert checkpoints.latest(evaluated / "best").name == f"{int(best):06d}"
    events = EventAccumulator(str(evaluated / "tensorboard")).Reload()
    assert [e.step for e in events.Tensors(f"evaluate/{name}")] == [3, 6, 9, 12]
    summary = events.SummaryMetadata(f"evaluate/{name}")
    assert "n=80, against digits, observed" in summary.summary_description


def test_the_best_checkpoint_has_the_value_it_was_kept_for(evaluated):
    model, _ = loading.load(evaluated, best=True)
    images = examples.load(EVALUATED).observed
    measure, by = evaluate.during_training(EVALUATED, images)
    found = measure(model, lambda: False)
    wanted = evaluations(evaluated)[str(int(model.optimizer.iterations))]
    assert found[by]["value"] == wanted[by]["value"]


def test_a_stopped_run_ends_with_the_same_evaluations(evaluated, tmp_path):
    workdir = tmp_path / "run"
    train.train(dataclasses.replace(EVALUATED, updates=6), workdir)
    # As if it had been killed in the evaluation of update 6.
    rows = evaluations(workdir)
    del rows["6"]
    (workdir / "evaluations.json").write_text(json.dumps(rows))
    train.train(dataclasses.replace(EVALUATED, updates=6), workdir)
    assert "6" in evaluations(workdir)
    # And as if later ones had been, after the newest checkpoint.
    rows = {**evaluations(workdir), "9": {}}
    (workdir / "evaluations.json").write_text(json.dumps(rows))
    train.train(EVALUATED, workdir)
    assert evaluations(workdir) == evaluations(evaluated)
    for place in ("checkpoints", "best"):
        paths = [
            checkpoints.latest(run / place) for run in (evaluated, workdir)
        ]
        assert paths[0].name == paths[1].name
        one, two = (tf.train.load_checkpoint(str(p / "state")) for p in paths)
        for name in one.get_variable_to_shape_map():
            if name[0] != "_":
                np.testing.assert_array_equal(
                    one.get_tensor(name), two.get_tensor(name)
                )


def test_the_best_of_a_way_that_was_left_is_forgotten(tmp_path, tiny_model):
    values = iter([3.0, 2.0, 2.5, 2.8])

    def measure(model, stop):
        return {"fid": {"value": next(values), "n": 2}}

    def best():
        return checkpoints.updates(tmp_path / "best")

    tiny_model.optimizer.build(tiny_model.trainable_variables)
    callback = evaluation.Evaluate(tmp_path, measure, "fid", every=10)
    callback.set_model(tiny_model)
    for update, go_on, kept in (
        (0, True, []),
        (10, False, [10]),
        (20, False, [10, 20]),  # the best, and the one before
        (10, True, [10]),  # the guard took it back
        (20, False, [10, 20]),
        (30, False, [10, 20]),
    ):
        tiny_model.optimizer.iterations.assign(update)
        if go_on:
            callback.on_train_begin()
        else:
            callback.on_train_batch_end(0)
        assert best() == kept
    assert evaluations(tmp_path)["20"]["fid"]["value"] == 2.5


def test_no_weights_stop_a_colour_run_before_it_begins(tmp_path):
    write_images(tmp_path / "images", random_images(30, 8, 3))
    settings = dataclasses.replace(
        EVALUATED,
        dataset="folder",
        data_dir=str(tmp_path / "images"),
        channels=3,
        inception=str(tmp_path / "missing.pb"),
    )
    with pytest.raises(UserError, match="missing.pb: No such file"):
        train.train(settings, tmp_path / "run")
    assert not (tmp_path / "run" / "metrics.jsonl").exists()

import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf
from helpers import TINY, fit_updates, random_images, write_images
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator,
)

from srmcmc_tf.config import presets
from srmcmc_tf.data import examples
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import evaluate
from srmcmc_tf.runs.checkpoints import Checkpoints
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import train
from srmcmc_tf.training.callbacks.evaluate import Evaluate

DIGITS = dataclasses.replace(presets.load("digits"), **TINY, n_left_out=10)
EVALUATED = dataclasses.replace(
    DIGITS, updates=12, checkpoint_every=5, evaluate_every=3, evaluate_n=80
)


def evaluations(workdir):
    return json.loads((workdir / "evaluations.json").read_text())


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "evaluated"
    train.train(EVALUATED, path)
    return path


def test_a_run_is_evaluated_during_training_and_the_best_is_kept(evaluated):
    found = evaluations(evaluated)
    assert list(found) == ["3", "6", "9", "12"]
    name = "digits_classifier_distance"
    best = min(found, key=lambda update: found[update][name]["value"])
    assert Checkpoints(evaluated / "best").latest().name == f"{int(best):06d}"
    events = EventAccumulator(str(evaluated / "tensorboard")).Reload()
    assert [e.step for e in events.Tensors(f"evaluate/{name}")] == [3, 6, 9, 12]
    summary = events.SummaryMetadata(f"evaluate/{name}")
    assert "n=80, against digits, observed" in summary.summary_description


def test_the_best_checkpoint_has_the_value_it_was_kept_for(evaluated):
    model = Run(evaluated).load_model(best=True)
    images = examples.load(EVALUATED).observed
    callback = Evaluate(evaluated, images, n=80)
    by, found = callback.by, callback.measure(model, lambda: False)
    wanted = evaluations(evaluated)[str(model.update)]
    # The sums are those of images in another order.
    assert found[by]["value"] == pytest.approx(wanted[by]["value"], rel=1e-8)


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
            Checkpoints(run / place).latest() for run in (evaluated, workdir)
        ]
        assert paths[0].name == paths[1].name
        one, two = (tf.train.load_checkpoint(str(p / "state")) for p in paths)
        for name in one.get_variable_to_shape_map():
            if name[0] != "_":
                np.testing.assert_array_equal(
                    one.get_tensor(name), two.get_tensor(name)
                )


def test_the_best_of_an_abandoned_branch_is_forgotten(
    tmp_path, tiny_model, monkeypatch
):
    values = iter([3.0, 2.0, 2.5, 2.8])

    def measure(model, stop):
        return {"fid": {"value": next(values), "n": 2}}

    monkeypatch.setattr(
        evaluate, "during_training", lambda *_: (measure, "fid")
    )

    def best():
        return Checkpoints(tmp_path / "best").updates()

    tiny_model.optimizer.build(tiny_model.trainable_variables)
    callback = Evaluate(tmp_path, random_images(4), every=10)
    callback.set_model(tiny_model)
    for update, resumes, kept in (
        (0, True, []),
        (10, False, [10]),
        (20, False, [10, 20]),  # the best, and the one before
        (10, True, [10]),  # the guard rolled back
        (20, False, [10, 20]),
        (30, False, [10, 20]),
    ):
        tiny_model.optimizer.iterations.assign(update)
        if resumes:
            callback.on_train_begin()
        else:
            callback.on_train_batch_end(0)
        assert best() == kept
    assert evaluations(tmp_path)["20"]["fid"]["value"] == 2.5


def test_missing_weights_stop_a_color_run_before_it_begins(tmp_path):
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


def test_images_of_another_shape_are_refused(tmp_path, tiny_model, monkeypatch):
    monkeypatch.setattr(evaluate, "during_training", lambda *_: (None, "fid"))
    callback = Evaluate(tmp_path, random_images(4, 16))
    with pytest.raises(ValueError, match=r"\(16, 16, 1\), those of the model"):
        fit_updates(tiny_model, [callback], n=1)

"""Values with all that belongs to them: of runs, of sets, while training."""

import dataclasses
import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf
from helpers import SHARED, TINY, random_images, small_graph, write_images
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator,
)

from srmcmc_tf.cli import evaluate as verb
from srmcmc_tf.config import presets
from srmcmc_tf.data import examples, toys
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import (
    classifiers,
    evaluate,
    image_sets,
    measure,
    reference,
)
from srmcmc_tf.files import cache
from srmcmc_tf.metrics import streaming
from srmcmc_tf.metrics.features.network import Network, Seen
from srmcmc_tf.runs import checkpoints, loading
from srmcmc_tf.sampling import rng
from srmcmc_tf.training import evaluation, train

DIGITS = dataclasses.replace(presets.load("digits"), **TINY, n_left_out=10)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def one_cache(home, monkeypatch, cache):
    """One cache for all tests here: the classifier is trained once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))


@pytest.fixture(scope="module")
def workdir(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "tiny"
    train.train(DIGITS, path)
    return path


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(small_graph()[0])
    return path


def call(*args):
    """The verb in this process; its exit code."""
    return verb.evaluate([str(arg) for arg in args])


def stored(out):
    return json.loads((pathlib.Path(out) / "evaluation.json").read_text())[
        "records"
    ]


class Counting:
    """A small network that counts the images it sees."""

    def __init__(self, fail_after=None):
        self.seen = 0
        self.fail_after = fail_after

    def network(self):
        return Network("tiny", "nowhere", "0", 3, 3, {}, self.see)

    def see(self, images):
        if self.fail_after is not None and self.seen >= self.fail_after:
            raise KeyboardInterrupt
        self.seen += len(images)
        x = tf.cast(images, tf.float32)
        features = tf.stack(
            [x[:, 0, 0, 0], x[:, 1, 2, 0], tf.reduce_mean(x, [1, 2, 3])], 1
        )
        return Seen(features, features)


def test_a_reference_is_made_once_and_tells_its_name(home):
    images = image_sets.of_array(random_images(200), "some set", "observed")
    counting = Counting()
    first = reference.of_images(images, counting.network())
    again = reference.of_images(images, counting.network())
    assert counting.seen == 200
    for a, b in zip(first.moments, again.moments, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(first.features, again.features)
    (path,) = home.glob("srmcmc_tf/reference/some_set-*")
    for part in ("-observed-", "-n200-", "-square8x8x1-uint8-", "-tiny-"):
        assert part in path.name
    path.write_bytes(path.read_bytes()[:1000])  # damaged: made anew
    reference.of_images(images, counting.network())
    assert counting.seen == 400


def test_an_interrupted_reference_goes_on(home, monkeypatch):
    monkeypatch.setattr(streaming, "SAVE_SECONDS", 0)
    images = image_sets.of_array(random_images(300, seed=3), "part", "observed")
    with pytest.raises(KeyboardInterrupt):
        reference.of_images(images, Counting(fail_after=128).network())
    assert list(home.glob("srmcmc_tf/reference/part-*.part"))
    rest = Counting()
    found = reference.of_images(images, rest.network())
    assert rest.seen == 300 - 128
    assert not list(home.glob("srmcmc_tf/reference/part-*.part"))
    whole = image_sets.of_array(images.read(0, 300), "whole", "observed")
    wanted = reference.of_images(whole, Counting().network())
    for a, b in zip(found.moments, wanted.moments, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(found.features, wanted.features)


def test_the_classifier_knows_digits_it_was_not_trained_on():
    images, labels = classifiers.digits(8)
    model = classifiers.build([8, 8, 1], 10)
    classifiers.train(model, images[:1400], labels[:1400])
    guesses = model(images[1400:])[1].numpy().argmax(axis=1)
    assert (guesses == labels[1400:]).mean() > 0.9


def test_a_digits_run_is_measured_under_other_names(workdir, capsys):
    assert call(f"--workdir={workdir}", "--n=100") == 0
    told = capsys.readouterr().out
    found = stored(workdir / "generated")
    assert list(found) == [
        "digits_classifier_distance",
        "digits_classifier_kernel_distance",
        "digits_classifier_score",
        "mse",
    ]
    assert "FID" not in told and "KID" not in told
    for record in found.values():
        assert np.isfinite(record["value"])
        assert record["n"] == (10 if "range" in record else 100)
    assert found["digits_classifier_distance"]["reference"] == {
        "name": "digits",
        "split": "observed",
        "n": 1597,
    }
    assert "n=100, against digits, observed, n=1,597" in told
    assert "in 10 splits" in told and "standard error" in told


def test_a_toy_is_measured_by_its_regions(tmp_path, capsys):
    changes = dict(toy="rings", n_examples=300, updates=2)
    settings = dataclasses.replace(
        presets.load("toy_2d"), **{**TINY, **changes}
    )
    train.train(settings, tmp_path)
    assert call(f"--workdir={tmp_path}", "--n=200") == 0
    found = stored(tmp_path / "generated")
    assert found["toy_classifier_distance"]["reference"]["n"] == 300
    assert 1 <= found["toy_classifier_score"]["value"] <= 10
    assert found["mse"]["value"] is None
    told = capsys.readouterr().out
    assert "FID" not in told and "MSE: none, there are no left-out" in told


@pytest.mark.parametrize("name", ["mixtures", "pinwheel"])
def test_a_toys_own_draws_are_nearer_than_noise(name):
    network = classifiers.of_toy("toy_2d", name)
    toy = toys.get("toy_2d", name)
    real = toys.draw(toy, 1000, rng.seed_of(1))
    real = image_sets.of_array(real, name, "observed")
    known = reference.of_images(real, network)

    def distance(points):
        fake = image_sets.of_array(points, "fake", "seeds")
        found = measure.measure(fake, network, known, ["fid"])
        return found["toy_classifier_distance"]["value"]

    noise = rng.uniform([1000, 2], rng.seed_of(3)).numpy()
    assert 5 * distance(toys.draw(toy, 1000, rng.seed_of(2))) < distance(noise)


def test_what_was_measured_is_not_measured_again(workdir, monkeypatch, capsys):
    assert call(f"--workdir={workdir}", "--n=90", "--metrics=fid") == 0
    first = capsys.readouterr().out

    def never(*args, **kwargs):
        raise AssertionError("measured again")

    monkeypatch.setattr(evaluate.measure, "measure", never)
    assert call(f"--workdir={workdir}", "--n=90", "--metrics=fid") == 0
    assert capsys.readouterr().out == first
    with pytest.raises(AssertionError):
        call(f"--workdir={workdir}", "--n=91", "--metrics=fid")


def test_an_interrupted_evaluation_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(streaming, "SAVE_SECONDS", 0)
    np.savez(tmp_path / "real.npz", random_images(150))
    np.savez(tmp_path / "fake.npz", random_images(200, seed=1))
    sets = tmp_path / "real.npz", tmp_path / "fake.npz"

    def evaluated(out, fail_after=None):
        counting = Counting(fail_after)
        names = {"fid": "distance", "kid": "kernel", "is": "score"}
        network = counting.network()._replace(names=names)
        monkeypatch.setattr(evaluate, "network_for", lambda *_: network)
        return evaluate.of_sets(*sets, out=tmp_path / out), counting.seen

    whole, seen = evaluated("whole")
    assert seen == 350
    with pytest.raises(KeyboardInterrupt):
        evaluated("part", fail_after=128)  # the reference is there already
    again, seen = evaluated("part")
    assert seen == 200 - 128 and again == whole
    assert [p.name for p in (tmp_path / "part").iterdir()] == [
        "evaluation.json"
    ]


def test_sets_are_compared_by_the_graph_given(graph, tmp_path, capsys):
    write_images(tmp_path / "folder", random_images(40, 8, 3))
    np.savez(tmp_path / "same.npz", x=random_images(40, 8, 3))
    np.savez(tmp_path / "other.npz", x=random_images(60, 8, 3, seed=9) // 2)
    options = f"--inception={graph}", f"--out={tmp_path}"
    real = f"--real={tmp_path / 'folder'}"
    assert call(real, f"--fake={tmp_path / 'same.npz'}", *options) == 0
    assert abs(stored(tmp_path)["fid"]["value"]) < 1e-6
    assert call(real, f"--fake={tmp_path / 'other.npz'}", *options) == 0
    found = stored(tmp_path)
    assert list(found) == ["fid", "kid", "is"]
    assert found["fid"]["value"] > 0.01 and found["kid"]["value"] > 0.001
    assert "FID" in capsys.readouterr().out

    # The statistics alone are enough for FID, and KID says that it needs more.
    (path,) = cache.cache_dir().glob("reference/folder-*")
    with np.load(path) as arrays:
        kept = {name: arrays[name] for name in ("mu", "sigma")}
    np.savez(tmp_path / "statistics.npz", **kept)
    known = f"--real={tmp_path / 'statistics.npz'}"
    assert call(known, f"--fake={tmp_path / 'other.npz'}", *options) == 0
    assert stored(tmp_path)["fid"]["value"] == found["fid"]["value"]
    assert stored(tmp_path)["kid"]["value"] is None
    told = capsys.readouterr().out
    assert "n=unknown" in told and "KID: none, statistics has no f" in told


def test_too_few_for_the_features_is_warned_of(graph, tmp_path, capsys):
    np.savez(tmp_path / "real.npz", x=random_images(40, 8, 3))
    np.savez(tmp_path / "fake.npz", x=random_images(5, 8, 3, seed=2))
    call(
        f"--real={tmp_path / 'real.npz'}",
        f"--fake={tmp_path / 'fake.npz'}",
        f"--inception={graph}",
        f"--out={tmp_path}",
    )
    assert "warning: n=5 gives a singular covariance of 5 features" in (
        capsys.readouterr().out
    )
    assert "warning" in stored(tmp_path)["fid"]
    assert "warning" not in stored(tmp_path)["is"]


def test_a_missing_softmax_layer_is_told_plainly(tmp_path, capsys):
    graph = tmp_path / "graph.pb"
    graph.write_bytes(small_graph(softmax=False)[0])
    np.savez(tmp_path / "x.npz", x=random_images(20, 8, 3))
    sets = [f"--real={tmp_path / 'x.npz'}", f"--fake={tmp_path / 'x.npz'}"]
    sets += [f"--inception={graph}", f"--out={tmp_path}"]
    assert call(*sets) == 0
    assert f"IS: none, {graph} has no softmax layer" in capsys.readouterr().out
    assert stored(tmp_path)["is"]["value"] is None
    with pytest.raises(UserError, match="nothing could be measured"):
        call(*sets, "--metrics=is")


def test_mistakes_are_told_in_one_line(graph, workdir, tmp_path):
    np.savez(tmp_path / "a.npz", x=random_images(4, 8, 3))
    np.savez(tmp_path / "b.npz", x=random_images(4, 16, 3))
    np.savez(tmp_path / "one.npz", x=random_images(1, 8, 3))
    np.savez(tmp_path / "s.npz", mu=np.zeros(9), sigma=np.eye(9))
    a, b, one, s = (tmp_path / f"{n}.npz" for n in ("a", "b", "one", "s"))
    weights = f"--inception={graph}", f"--out={tmp_path}"
    run = f"--workdir={workdir}"
    for args, message in (
        ([], "needs --workdir=RUN, or --real"),
        ([f"--real={a}"], "needs --workdir=RUN, or --real"),
        ([run, f"--real={a}", f"--fake={a}"], "needs --workdir=RUN, or"),
        ([f"--workdir={tmp_path}"], "is no run"),
        ([run, "--metrics=fdi"], "must be one of fid, kid, is, mse"),
        ([run, "--n=1"], "--n=1: must be a whole number, 2 to"),
        ([f"--real={a}", f"--fake={a}", "--metrics=mse"], "needs --workdir"),
        ([f"--real={b}", f"--fake={a}", *weights], "both must have one size"),
        ([f"--real={a}", f"--fake={one}", *weights], "1 image of one: too few"),
        ([f"--real={one}", f"--fake={a}", *weights], "one has 1 image"),
        ([f"--real={a}", f"--fake={a}", "--n=5", *weights], "only 4 images"),
        ([f"--real={s}", f"--fake={a}", *weights], r"shape \(9,\), but"),
        ([f"--real={a}", f"--fake={a}", f"--inception={s}"], "is not the Inc"),
    ):
        with pytest.raises(UserError, match=message) as error:
            call(*args)
        assert "\n" not in str(error.value)


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
    measure, by = evaluate.while_training(EVALUATED, images)
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
    found = evaluate.of_sets(
        STATISTICS,
        tmp_path / "test.npz",
        out=tmp_path,
        chosen=["fid"],
        path=INCEPTION,
    )
    assert found["fid"]["n"] == 10_000
    assert abs(found["fid"]["value"] - 3.151) < 0.02

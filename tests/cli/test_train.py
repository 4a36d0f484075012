import subprocess
import sys

import numpy as np
import pytest
from helpers import ROOT, call, flags, run
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from srmcmc_tf.cli import train
from srmcmc_tf.config import config
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.run import Run


def test_help_is_grouped_and_names_every_flag():
    code = "import sys; from srmcmc_tf.cli import train; sys.argv[1:] = ['-h']"
    code += "\ntry: train.main()\nfinally: assert 'keras' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0 and done.stderr == ""
    flags = {*config.FIELDS, "workdir", "from"} - {"initial"}  # its field
    for name in flags:
        assert f"--{name}=" in done.stdout
    for group in ("data:", "model:", "training:", "run:"):
        assert f"\n{group}\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_help_shows_the_defaults_of_the_data_set_asked_for():
    _, out, _ = call("train", "--dataset=cifar10", "--help")
    assert "--n_f=128" in out and "IS 6.21" in out
    assert "--workdir=runs/cifar10 " in out


def test_help_shows_the_defaults_of_the_recipe_and_of_the_preset_asked_for():
    _, out, _ = call("train", "--dataset=cifar10", "--recipe=pyramid", "--help")
    assert "--n_f=32" in out and "docs/recipe.md" in out and "6.21" not in out
    assert "--workdir=runs/cifar10_pyramid " in out
    _, out, _ = call("train", "--from=preset:digits", "--help")
    assert "--updates=4000" in out and "those of preset:digits" in out
    assert "--workdir=runs/digits_tuned " in out


@pytest.mark.parametrize(
    "given, path",
    [
        ({}, "runs/digits"),
        ({"dataset": "cifar10", "model": "vae"}, "runs/cifar10_vae"),
        ({"initial": "preset:/a/mine"}, "runs/mine_tuned"),
        ({"initial": "preset:a", "dataset": "mnist"}, "runs/a_tuned_mnist"),
    ],
)
def test_other_settings_have_a_directory_of_their_own(given, path):
    assert train._default_workdir(given) == path


@pytest.mark.parametrize(
    "argv, message",
    [
        (["--from=digits"], "--from=digits: must be preset:NAME"),
        (["--preset=digits"], "--from=preset:NAME tunes"),
        (["--sigmma=0.1"], "sigma"),
        (["--K=none"], "--K=none: must be a whole number"),
        (["digits"], "'digits': flags look like --name=value"),
        (["--K"], "K"),
    ],
)
def test_a_wrong_flag_is_explained(argv, message):
    with pytest.raises(UserError) as error:
        train.parse(argv)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_flags_become_typed_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    args = train.parse(["--K=7", "--sigma", "0.2", "--data_dir=d"])
    assert args.given == {"K": 7, "sigma": 0.2, "data_dir": f"{tmp_path}/d"}


def test_a_run_is_trained_in_its_workdir(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("train", *flags(updates=2))
    assert code == 0, err
    assert "update 2 of 2" in out
    assert Run("runs/digits").checkpoints.updates() == [2]


def test_help_shows_the_defaults_of_the_model_asked_for(capsys):
    with pytest.raises(SystemExit):
        train.train(["--model=dcgan", "--help"])
    text = capsys.readouterr().out
    assert "--workdir=runs/digits_dcgan" in text
    assert "--learning_rate=0.0002" in text and "\n  --K=" not in text


def test_a_refused_flag_leaves_no_run_behind(tmp_path):
    run = f"--workdir={tmp_path / 'run'}"
    with pytest.raises(UserError, match="is not for --model=vae"):
        train.train([run, "--model=vae", "--K=3"])
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_the_default_draws_all_ten_digits(tmp_path):
    """The promise of the README's first command, kept by a real run of it."""
    workdir = tmp_path / "digits"
    code, _, err = run(f"--workdir={workdir}", timeout=1200)
    assert code == 0, err
    model = Run(workdir).load_model()
    samples = pixels.to_uint8(model.sample(range(500)).numpy()) / 255.0

    digits = load_digits()
    classifier = KNeighborsClassifier(5)
    classifier.fit(digits.data / 16.0, digits.target)
    chances = classifier.predict_proba(samples.reshape(500, 64))
    assert chances.max(axis=1).mean() >= 0.85
    counts = np.bincount(chances.argmax(axis=1), minlength=10)
    assert counts.min() > 0 and counts.max() <= 500 / 4


def test_a_switch_needs_no_value():
    for given in (["--conditional"], ["--conditional", "--K=3"]):
        assert train.parse(given).given["conditional"] == "on"
    assert train.parse(["--conditional=off"]).given["conditional"] == "off"
    assert train.parse(["--flip", "on"]).given["flip"] == "on"

"""Presets: trained models of the package in place of runs."""

import dataclasses
import json
import shutil

import numpy as np
import pytest
from helpers import TINY, call, untrained_run

import srmcmc_tf
from srmcmc_tf.config import presets as configs
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import preset
from srmcmc_tf.runs.run import Run
from srmcmc_tf.serving import model_card
from srmcmc_tf.training import train


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A preset `tiny`, a pyramid, written by bin/export; its model."""
    folder = tmp_path_factory.mktemp("presets")
    changes = configs.load("digits", recipe="pyramid", given=TINY)
    settings = dataclasses.asdict(changes)
    del settings["dataset"], settings["model"]
    run = untrained_run(folder / "run", **settings)
    code, _, err = call(
        "export",
        f"--workdir={run}",
        "--format=preset",
        f"--out={folder / 'tiny'}",
    )
    assert code == 0, err
    return folder, run.load_model()


@pytest.fixture
def installed(files, monkeypatch, tmp_path):
    monkeypatch.setattr(preset, "_DIRECTORY", files[0])
    monkeypatch.chdir(tmp_path)
    return files[1]


def test_a_preset_is_the_model_in_float16(installed):
    model = srmcmc_tf.load("preset:tiny")
    assert model.K == installed.K
    for ours, theirs in zip(model.weights, installed.weights, strict=True):
        rounded = np.asarray(theirs).astype(np.float16)
        np.testing.assert_array_equal(ours, rounded)


def test_the_card_has_data_license_settings_command_and_checksum(installed):
    card = preset.Preset("tiny").card
    assert (
        card["dataset"] == "digits" and "CC BY" in card["licence_of_the_data"]
    )
    assert card["settings"]["coarse_K"] == "20"
    assert card["command"].startswith("bin/train") and len(card["sha256"]) == 64


def test_a_preset_is_fitted_on_as_it_was_at_the_end_of_its_training(
    files, monkeypatch, tmp_path
):
    folder, _ = files
    for path in folder.glob("tiny.*"):
        shutil.copy(path, tmp_path)
    card = json.loads((tmp_path / "tiny.json").read_text())
    card["update"] = 1000
    card["settings"] |= {
        "learning_rate": 1e-3,
        "anneal_after": 900,
        "learning_rate_half_life": 50,
        "sigma_half_life": 100,
    }
    (tmp_path / "tiny.json").write_text(json.dumps(card))
    monkeypatch.setattr(preset, "_DIRECTORY", tmp_path)
    model = srmcmc_tf.load("preset:tiny")
    before = [np.array(weight) for weight in model.weights]
    x = np.zeros([16, 8, 8, 1], np.float32)
    model.fit(x, batch_size=8, epochs=2, verbose=0)
    # 4 updates at a rate of 2.5e-4. Adam's first steps are about as long as
    # the rate; without its moments, but counted from 1000, 16 times as long.
    moved = [
        np.abs(new - old).max()
        for new, old in zip(model.weights, before, strict=True)
    ]
    assert 0 < max(moved) < 2 * 4 * 2.5e-4
    sigmas = [float(stage.sigma(0)) for stage in model.stages]
    given = card["settings"]["coarse_sigma"], card["settings"]["sigma"]
    assert sigmas == pytest.approx([float(value) / 2 for value in given])
    chosen = preset.Preset("tiny")
    assert model_card.facts(chosen, model)["update"] == 1000


def test_commands_take_a_preset(installed, tmp_path):
    code, out, err = call("sample", "--preset=tiny", "--seeds=1,2")
    assert code == 0, err
    assert "runs/preset_tiny/generated/samples.npz" in out
    with np.load(tmp_path / "runs/preset_tiny/generated/samples.npz") as found:
        expected = srmcmc_tf.load("preset:tiny").sample([1, 2])
        np.testing.assert_allclose(found["x"], expected, atol=1e-5)


def test_a_preset_outside_of_the_package_is_named_by_its_path(
    files, monkeypatch, tmp_path
):
    folder, model = files
    for kind in ("json", "npz"):  # a dot in a name is not a suffix
        shutil.copy(folder / f"tiny.{kind}", tmp_path / f"mine.v1.{kind}")
    monkeypatch.chdir(tmp_path)
    loaded = srmcmc_tf.load("preset:./mine.v1")
    np.testing.assert_allclose(loaded.sample([1]), model.sample([1]), atol=0.01)
    code, out, err = call("sample", "--preset=./mine.v1.npz", "--seeds=1")
    assert code == 0 and "runs/preset_mine.v1/generated" in out, err
    run = "--workdir=tuned"
    given = "--from=preset:./mine.v1", "--updates=1", "--sigma=auto"
    code, _, err = call("train", *given, run)
    assert code == 0, err
    assert Run("tuned").config.initial == f"preset:{tmp_path}/mine.v1"
    # The preset is needed at the start alone.
    (tmp_path / "mine.v1.json").unlink()
    code, _, err = call("export", run, "--format=preset", "--out=again.v2")
    assert code == 0 and (tmp_path / "again.v2.json").exists(), err
    with pytest.raises(UserError, match=r"no file \./mine\.v1\.json"):
        srmcmc_tf.load("preset:./mine.v1")


def test_damaged_weights_are_refused(installed, files, monkeypatch, tmp_path):
    for path in files[0].glob("tiny.*"):
        content = bytearray(path.read_bytes())
        if path.suffix == ".npz":
            content[len(content) // 2] ^= 1
        (tmp_path / path.name).write_bytes(content)
    monkeypatch.setattr(preset, "_DIRECTORY", tmp_path)
    with pytest.raises(UserError, match="damaged: its checksum"):
        srmcmc_tf.load("preset:tiny")


def test_a_damaged_card_is_refused_by_name(
    installed, files, monkeypatch, tmp_path
):
    card = json.loads((files[0] / "tiny.json").read_text())
    path = tmp_path / "tiny.json"
    monkeypatch.setattr(preset, "_DIRECTORY", tmp_path)
    damaged = [
        json.dumps({n: v for n, v in card.items() if n != lost})
        for lost in ("data_digest", "format", "metrics", "settings", "sha256")
    ]
    damaged += [
        json.dumps({**card, "metrics": {"fid": 3}}),
        json.dumps({**card, "settings": {}}),
        json.dumps({**card, "settings": {**card["settings"], "K": True}}),
        json.dumps({**card, "format": 10**6}),
        json.dumps(card)[:100],
        "",
    ]
    for text in damaged:
        path.write_text(text)
        with pytest.raises(UserError, match="tiny"):
            _ = preset.Preset("tiny").config
    path.write_text(json.dumps(card))
    with pytest.raises(UserError, match=r"tiny\.npz: No such file"):
        preset.Preset("tiny").weights()


def test_an_unknown_preset_is_refused_with_those_there_are(installed):
    with pytest.raises(
        UserError, match="'tny': there are tiny; .* mean 'tiny'"
    ):
        srmcmc_tf.load("preset:tny")
    with pytest.raises(UserError, match=r"load\('preset:tiny'\)"):
        srmcmc_tf.load("tiny")
    with pytest.raises(UserError, match="must be preset:NAME"):
        preset.parse("tiny")


def test_tuning_starts_from_the_weights_with_the_settings(installed, tmp_path):
    run = Run(tmp_path / "tuned")
    given = {"initial": "preset:tiny", "updates": 1, "learning_rate": 0.0}
    config = run.settle(given)
    assert (config.recipe, config.n_f, config.batch_size) == ("pyramid", 4, 8)
    train.train(config, run.path)
    preset_weights = preset.Preset("tiny").weights()
    for old, new in zip(preset_weights, run.load_model().weights, strict=True):
        np.testing.assert_allclose(new, old, atol=1e-6)
    with pytest.raises(
        UserError, match="--from=preset:tiny has other networks"
    ):
        Run(tmp_path / "other").settle({**given, "n_f": 2})


@pytest.mark.parametrize("name", preset.names())
def test_presets_of_the_package_load_and_fit_the_budget(name):
    chosen = preset.Preset(name)
    assert chosen.load_model().image_shape == (
        chosen.config.image_size,
        chosen.config.image_size,
        chosen.config.channels,
    )
    card = chosen.card
    for field in ("dataset", "licence_of_the_data", "command", "made"):
        assert isinstance(card[field], str) and card[field]
    assert card["command"].startswith(f"bin/train --dataset={card['dataset']}")
    assert json.dumps(card["settings"]) and len(card["sha256"]) == 64
    assert any("distance" in key or key == "fid" for key in card["metrics"])
    for record in card["metrics"].values():
        assert record["n"] > 0
    files = preset._DIRECTORY.iterdir()
    assert sum(path.stat().st_size for path in files) <= 4 * 2**20

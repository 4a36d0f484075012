import dataclasses
import json

from conftest import TINY

from srmcmc_tf import card, config, signatures


def test_a_card_tells_data_settings_metrics_licence_and_making(exported):
    text = (exported[0] / "export/1/model_card.md").read_text()
    for part in (
        "model of digits, 8x8x1",
        "digest 0123456789abcdef",
        "CC BY 4.0",
        "bin/train --dataset=digits --n_f=4 --K=5",
        "12 updates of 12",
        "sigma 0.1",
        "- evaluation: fid 12.5, n 1000",
        "64 images, K = 10",
    ):
        assert part in text
    for name in signatures.SIGNATURES:
        assert f"| `{name}` |" in text


def test_signatures_are_told_with_types_and_shapes(exported):
    path = exported[0] / "export/1/model_card.json"
    told = json.loads(path.read_text())["signatures"]
    assert told["sample"]["inputs"] == {"seeds": "int64 [n]", "K": "int32 []"}
    assert told["interpolate"]["inputs"]["rho"] == "float32 [r]"
    files = told["interpolate"]["outputs"]["png_bytes"]
    assert files == "string [n, r]"
    assert told["serving_default"] == told["energy"]


def test_metrics_of_a_run_are_found(exported, tmp_path):
    _, model = exported
    settings = dataclasses.replace(config.load("digits"), **TINY)
    (tmp_path / "config.json").write_text(
        (exported[0] / "config.json").read_text()
    )
    assert card.facts(tmp_path, model, settings)["metrics"] == {}
    (tmp_path / "generated").mkdir()
    result = tmp_path / "generated" / "reconstruction.json"
    result.write_text('{"mse": 0.02}')
    facts = card.facts(tmp_path, model, settings)
    assert facts["metrics"] == {"reconstruction": {"mse": 0.02}}


def test_every_data_set_has_a_licence_line():
    assert {*card.LICENCES, "folder"} >= set(config.DATASETS)

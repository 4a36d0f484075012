import json

from srmcmc_tf.files import digests
from srmcmc_tf.runs.run import Run
from srmcmc_tf.serving import model_card, signatures


def test_a_card_tells_data_settings_metrics_licence_and_making(exported):
    text = (exported[0] / "export/1/model_card.md").read_text()
    for part in (
        "model of digits, 8x8x1",
        "digest 0123456789abcdef",
        "CC BY 4.0",
        "bin/train --dataset=digits --n_f=4 --K=5",
        "12 updates of 12",
        "sigma 0.1",
        "- fid: value 12.5, n 1000, reference (name digits, n 1597)",
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


def test_only_metrics_of_this_checkpoint_are_told(exported):
    workdir, model = exported
    settings = Run(workdir).config
    result = workdir / "generated" / "reconstruction.json"
    evaluated = workdir / "evaluations.json"
    for identity, update, told in (
        (digests.of_weights(model), "12", ["kid", "fid", "reconstruction"]),
        ("of other weights", "11", ["fid"]),
    ):
        result.write_text(json.dumps({"identity": identity, "mse": 0.02}))
        evaluated.write_text(json.dumps({update: {"kid": {"value": 0.1}}}))
        metrics = model_card.facts(workdir, model, settings)["metrics"]
        assert list(metrics) == told
    result.unlink()
    evaluated.unlink()

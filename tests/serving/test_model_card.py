import dataclasses
import json
import shlex

import pytest

from srmcmc_tf.cli import train
from srmcmc_tf.files import digests
from srmcmc_tf.runs import defaults
from srmcmc_tf.runs import run as runs
from srmcmc_tf.runs.run import Run
from srmcmc_tf.serving import model_card, signatures


@pytest.fixture(scope="module")
def version(exported):
    return exported[0] / "export" / "1"


def test_a_card_has_data_settings_metrics_license_and_command(version):
    text = (version / "model_card.md").read_text()
    for part in (
        "model of digits, 8x8x1",
        "digest 0123456789abcdef",
        "CC BY 4.0",
        "bin/train --dataset=digits --n_f=4 --K=5",
        "12 updates of 12",
        "sigma 0.1",
        "- fid: value 12.5, n 1000, reference (name digits, n 1597)",
        "64 images, K = 10",
        "appending `_default` to the name",
    ):
        assert part in text
    for name in signatures.SIGNATURES:
        assert f"| `{name}` |" in text


def test_the_header_is_yaml_for_the_hugging_face_hub(version):
    text = (version / "model_card.md").read_text()
    empty, header, body = text.split("---\n", 2)
    assert empty == "" and body.startswith("\n# A short-run MCMC model")
    values = dict(line.split(": ", 1) for line in header.splitlines())
    values = {name: json.loads(value) for name, value in values.items()}
    assert values["datasets"] == ["digits"] and values["metrics"] == ["fid"]
    assert {"license", "library_name", "tags"} <= set(values)


def test_signatures_have_types_and_shapes(version):
    card = json.loads((version / "model_card.json").read_text())["signatures"]
    assert card["sample"]["inputs"] == {"seeds": "int64 [n]", "K": "int32 []"}
    assert card["interpolate"]["inputs"]["rho"] == "float32 [r]"
    files = card["interpolate"]["outputs"]["png_bytes"]
    assert files == "string [n, r]"
    assert card["serving_default"] == card["energy"]


def test_keys_are_those_that_exports_always_had(version):
    card = json.loads((version / "model_card.json").read_text())
    assert set(card) == {
        *("dataset", "data_digest", "licence_of_the_data", "image", "K"),
        *("update", "settings", "interventions", "command", "metrics"),
        *("made", "made_with", "limits", "signatures"),
    }
    assert not set(runs.MACHINE_SETTINGS) & set(card["settings"])


def test_metrics_are_those_of_this_checkpoint_only(exported):
    workdir, model = exported
    run = Run(workdir)
    result = run.generated_directory / runs.RECONSTRUCTION
    for identity, update, names in (
        (digests.of_weights(model), 12, ["kid", "fid", "reconstruction"]),
        ("of other weights", 11, ["fid"]),
    ):
        result.write_text(
            json.dumps({"identity": identity, "mse": 0.02, "n": 4})
        )
        run.evaluations.write({update: {"kid": {"value": 0.1}}})
        assert list(model_card.facts(run, model)["metrics"]) == names
    result.unlink()
    run.evaluations.write({})


def test_interventions_are_those_that_led_to_the_checkpoint(exported):
    workdir, model = exported
    run = Run(workdir)
    one = {"number": 1, "update": 9, "reason": "f rises", "back_to": 5}
    late = {**one, "number": 2, "update": 20, "back_to": 13}
    same = {"seed": 1, "sigma": 0.1, "sigma_least": 0.1}
    run.interventions.write([{**i, **same} for i in (one, late)])
    (line,) = model_card.facts(run, model)["interventions"]
    assert "update 9: f rises" in line
    run.interventions.write([])


def test_the_command_of_a_card_names_what_is_not_a_default():
    settings = {"dataset": "cifar10", "recipe": "pyramid", "updates": 40}
    config = defaults.new_config(settings)
    assert model_card._command(config) == (
        "bin/train --dataset=cifar10 --recipe=pyramid --updates=40"
    )
    gone = dataclasses.replace(config, initial="preset:./gone")
    assert "--updates=40 --from=preset:./gone" in model_card._command(gone)


@pytest.mark.parametrize(
    "given",
    [
        {"dataset": "cifar10", "recipe": "pyramid", "updates": 40},
        {"initial": "preset:digits", "updates": 40, "batch_size": 64},
        {"initial": "preset:cifar10", "flip": "off", "warm_up": 3},
        {"initial": "preset:cifar10", "sigma": "auto"},
        {"recipe": "pyramid", "coarse_K": "30", "coarse_sigma": ""},
        {"dataset": "cifar10", "model": "vae", "n_f": 8},
        {
            "recipe": "pyramid",
            "updates": 100,
            "anneal_after": 30,
            "learning_rate_half_life": 15,
        },
    ],
)
def test_the_command_of_a_card_gives_the_settings_of_its_run(given):
    config = defaults.new_config(given)
    command = shlex.split(model_card._command(config))
    found = train.parse(command[1:]).given
    if "from" in found:
        found["initial"] = found.pop("from")
    assert defaults.new_config(found) == config

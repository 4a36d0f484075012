"""The model card of an export: data, settings, metrics, signatures, limits."""

import contextlib
import dataclasses
import json
import pathlib
import time
from typing import Any

import keras
import tensorflow as tf

import srmcmc_tf
from srmcmc_tf.config import fields
from srmcmc_tf.config.config import FIELDS, Config
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, digests
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.runs import defaults, interventions, preset
from srmcmc_tf.runs.run import MACHINE_SETTINGS, Run
from srmcmc_tf.runs.source import Source
from srmcmc_tf.serving import choice, signatures, versions
from srmcmc_tf.serving.inputs import LARGEST_PIXEL, Limits

Facts = dict[str, Any]  # of JSON

# Settings from which defaults of those behind them follow.
_FOLLOWED = (
    ("model", "recipe"),
    ("image_size", "updates", "sigma"),
    ("anneal_after",),
)


def facts(source: Source, model: ShortRunEBM) -> Facts:
    """Returns what is known of a model, as values for JSON.

    Args:
        source: the run or the model file that the model is of.
        model: the model.
    """
    known = (
        _of_run(source, model)
        if isinstance(source, Run)
        else _of_file(source, model)
    )
    return {
        "image": model.image_shape,
        "K": model.K,
        **({"n_classes": model.n_classes} if model.n_classes else {}),
        "update": model.update,
        **known,
        "made": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "made_with": {
            "srmcmc_tf": srmcmc_tf.__version__,
            "tensorflow": tf.__version__,
            "keras": keras.__version__,
        },
    }


def _of_run(run: Run, model: ShortRunEBM) -> Facts:
    config = run.config
    settings = dataclasses.asdict(config)
    for name in MACHINE_SETTINGS:
        settings.pop(name)
    return {
        # A model of a preset counts its own updates.
        "update": run.card["update"]
        if isinstance(run, preset.Preset)
        else model.update,
        "dataset": config.dataset,
        "data_digest": run.data_digest,
        "licence_of_the_data": config.data.license,
        "settings": settings,
        "interventions": [
            interventions.describe(one)
            for one in run.interventions.up_to(model.update)
        ],
        "command": _command(config),
        # Of these weights alone, during training and by the commands.
        "metrics": {
            **run.evaluations.read().get(model.update, {}),
            **run.measurements(digests.of_weights(model)),
        },
    }


def _of_file(source: Source, model: ShortRunEBM) -> Facts:
    """What a model file tells: nothing about its data."""
    return {
        "dataset": "unknown",
        "data_digest": "unknown",
        "licence_of_the_data": "unknown",
        "settings": {
            "K": model.K,
            "step_size": model.step_size,
            "noise": model.noise,
            "seed": model.seed,
            "updates": model.update,
        },
        "interventions": [],
        "command": f"bin/export --model_file={source}",
        "metrics": source.measurements(digests.of_weights(model)),
    }


def write(
    directory: pathlib.Path,
    facts: Facts,
    limits: Limits,
    functions: dict[str, signatures.Function],
) -> None:
    """Writes the card as JSON, and as Markdown for people.

    Args:
        directory: of a version, there already.
        facts: as `facts` returns them.
        limits: of a request.
        functions: by signature name.
    """
    facts = {
        **facts,
        "limits": limits._asdict(),
        "signatures": {
            name: _signature(function) for name, function in functions.items()
        },
    }
    atomic.write_json(directory / versions.CARD_JSON, facts)
    atomic.write_text(directory / versions.CARD_MARKDOWN, _text(facts))


def _command(config: Config) -> str:
    """Returns the command that trains such a model."""
    given = _given(config, {})
    if config.initial:
        # Defaults are then those of a preset, which may change, or be gone.
        with contextlib.suppress(UserError):
            given |= _given(config, {"initial": config.initial})
    flags = [
        f" --{fields.flag_name(field)}={given[name]}"
        for name, field in FIELDS.items()
        if name in given
    ]
    return f"bin/train{''.join(flags)}"


def _given(config: Config, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings, besides those given, that are not defaults."""
    given = {"dataset": config.dataset, **given}
    for names in (*_FOLLOWED, FIELDS):
        default = defaults.new_config(given)
        given |= {
            name: getattr(config, name)
            for name in names
            if getattr(config, name) != getattr(default, name)
            and name not in MACHINE_SETTINGS
        }
    return given


def _signature(function: signatures.Function) -> dict[str, dict[str, str]]:
    inputs = signatures.input_specs(function)
    outputs = function.get_concrete_function().structured_outputs
    return {
        "inputs": {name: _type(name, spec) for name, spec in inputs.items()},
        "outputs": {name: _type(name, spec) for name, spec in outputs.items()},
    }


def _type(name: str, spec: tf.TensorSpec) -> str:
    """Returns a type and a shape, such as `float32 [n, 8, 8, 1]`."""
    free = iter("r" if name == "rho" else "nr")
    sizes = [next(free) if s is None else str(s) for s in spec.shape]
    return f"{spec.dtype.name} [{', '.join(sizes)}]"


def _header(facts: Facts) -> str:
    """Returns the YAML header that the Hugging Face Hub reads.

    JSON is valid YAML, and escapes whatever needs it.
    """
    values = {
        # The weights derive from the data, whose license is free text.
        "license": "other",
        "license_name": "license-of-the-data",
        "library_name": "tensorflow",
        **(
            {}
            if "n_classes" in facts
            else {"pipeline_tag": "unconditional-image-generation"}
        ),
        "tags": ["energy-based-model", "short-run-mcmc", "saved-model"],
        "datasets": [facts["dataset"]],
        "metrics": list(facts["metrics"]),
    }
    lines = [f"{name}: {json.dumps(value)}" for name, value in values.items()]
    return "\n".join(["---", *lines, "---"])


def _text(facts: Facts) -> str:
    height, width, channels = facts["image"]
    limits, largest = facts["limits"], LARGEST_PIXEL
    versions = ", ".join(f"{n} {v}" for n, v in facts["made_with"].items())
    return f"""\
{_header(facts)}

# A short-run MCMC model of {facts["dataset"]}, {height}x{width}x{channels}

K = {facts["K"]} Langevin steps on a learned energy, started from uniform
noise, are the generator (Nijkamp et al., NeurIPS 2019, arXiv:1904.09770).
{_classes_text(facts.get("n_classes", 0))}
## Data

- dataset: {facts["dataset"]} (digest {facts["data_digest"]})
- license of the data: {facts["licence_of_the_data"]}

## How it was made

- `{facts["command"]}`
- {facts["update"]:,} updates of {facts["settings"]["updates"]:,}
- exported on {facts["made"]} with {versions}
- settings: {_listed(facts["settings"])}
{_interventions_text(facts["interventions"])}
## Metrics

{_metrics_text(facts["metrics"])}

## Signatures

Images are float32 about [-1, 1] (`images`), pixels from 0 to 255
(`images_uint8`) or PNG files (`png_bytes`). `n` and `r` are free.

{_signatures_text(facts["signatures"])}

`K` and `iterations` have defaults in these signatures, those of Python. TF
Serving's REST interface does not use them: there, leave these inputs out by
appending `{signatures.WITH_DEFAULTS}` to the name, as in `sample_default`.

## Limits

- Maximum per request: {limits["batch"]} images, K = {limits["K"]},
  {limits["iterations"]} iterations; in `images` nothing beyond +-{largest:g}.
  Anything else is answered by an error that names the input.
- `K` and `iterations` are one number a request: leave a server's own batching
  of requests off.
- The same bits as in training need the same kind of device, and on a CPU
  `TF_ENABLE_ONEDNN_OPTS=1` in the server's environment.
- More steps than in training over-saturate. f is known up to a constant only:
  compare it within this model. Samples have the faults of the data.
"""


def _classes_text(n_classes: int) -> str:
    if not n_classes:
        return ""
    return (
        f"\nIt is conditional: an energy f(x, y) for each of {n_classes:,} "
        "classes, whose\nnumbers, from 0, are the `labels`.\n"
    )


def _interventions_text(lines: list[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)


def _metrics_text(metrics: dict[str, Any]) -> str:
    lines = [f"- {name}: {_listed(m)}" for name, m in metrics.items()]
    return "\n".join(lines) or "None were measured before the export."


def _signatures_text(specs: dict[str, dict[str, dict[str, str]]]) -> str:
    lines = ["| name | inputs | outputs | |", "|---|---|---|---|"]
    for name, signature in choice.described(specs).items():
        inputs, outputs = (
            ", ".join(f"`{n}` {t}" for n, t in specs[name][side].items())
            for side in ("inputs", "outputs")
        )
        lines.append(
            f"| `{name}` | {inputs} | {outputs} | {signature.description} |"
        )
    return "\n".join(lines)


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {_shown(value)}" for name, value in values.items()
    )


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"({_listed(value)})"
    return f"{value:.4g}" if isinstance(value, float) else str(value)

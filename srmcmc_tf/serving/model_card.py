"""The model card of an export: what a model is, from what, how good, whose."""

import dataclasses
import json
import pathlib
import time

import keras
import tensorflow as tf

import srmcmc_tf
from srmcmc_tf.config import config as configs
from srmcmc_tf.config import presets
from srmcmc_tf.files import digests
from srmcmc_tf.runs import interventions
from srmcmc_tf.runs import run as runs
from srmcmc_tf.runs.run import Run
from srmcmc_tf.serving import signatures

# What bin/evaluate and bin/reconstruct leave.
_RESULTS = ("evaluation.json", "reconstruction.json")


def facts(workdir, model, config):
    """What is known of a run's model.

    Args:
        workdir: the run directory.
        model: its `ShortRunEBM`.
        config: its `Config`.

    Returns:
        A dictionary for JSON.
    """
    settings = dataclasses.asdict(config)
    for name in runs.MACHINE_SETTINGS:  # of the machine, not of the model
        settings.pop(name)
    update = model.update
    return {
        "dataset": config.dataset,
        "data_digest": Run(workdir).data_digest,
        "licence_of_the_data": config.data.license,
        "image": model.energy.input_shape[1:],
        "K": model.K,
        "update": update,
        "settings": settings,
        "interventions": [
            interventions.describe(line)
            for line in Run(workdir).interventions.up_to(update)
        ],
        "command": _command(config),
        "metrics": _metrics(pathlib.Path(workdir), model),
        "made": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "made_with": {
            "srmcmc_tf": srmcmc_tf.__version__,
            "tensorflow": tf.__version__,
            "keras": keras.__version__,
        },
    }


def write(directory, facts, limits, functions):
    """Writes `model_card.json`, and `model_card.md` for people.

    Args:
        directory: of a version, there already.
        facts: as of `facts`.
        limits: `signatures.Limits`.
        functions: the concrete functions by signature name.
    """
    directory = pathlib.Path(directory)
    facts = {
        **facts,
        "limits": limits._asdict(),
        "signatures": {
            name: _signature(function) for name, function in functions.items()
        },
    }
    text = json.dumps(facts, indent=2) + "\n"
    (directory / "model_card.json").write_text(text)
    (directory / "model_card.md").write_text(_text(facts))


def _command(config):
    """The command that trains such a model, with what is not the default."""
    default = presets.load(config.dataset)
    flags = [
        f" --{name}={getattr(config, name)}"
        for name in configs.FIELDS
        if getattr(config, name) != getattr(default, name)
        and name not in ("dataset", *runs.MACHINE_SETTINGS)
    ]
    return f"bin/train --dataset={config.dataset}{''.join(flags)}"


def _metrics(workdir, model):
    """What was measured of these weights, while training or by other verbs."""
    update = str(model.update)
    found = _read(workdir / "evaluations.json").get(update, {})
    identity = digests.of_weights(model)
    for name in _RESULTS:
        path = workdir / "generated" / name
        result = _read(path)
        if result.pop("identity", None) == identity:
            found |= result.get("records", {path.stem: result})
    return found


def _read(path):
    return json.loads(path.read_text()) if path.exists() else {}


def _signature(function):
    inputs, outputs = signatures.inputs(function), function.structured_outputs
    return {
        "inputs": {name: _type(name, spec) for name, spec in inputs.items()},
        "outputs": {name: _type(name, spec) for name, spec in outputs.items()},
    }


def _type(name, spec):
    """Such as `float32 [n, 8, 8, 1]`."""
    free = iter("r" if name == "rho" else "nr")
    sizes = [next(free) if s is None else str(s) for s in spec.shape]
    return f"{spec.dtype.name} [{', '.join(sizes)}]"


def _text(facts):
    height, width, channels = facts["image"]
    limits, largest = facts["limits"], signatures.LARGEST_PIXEL
    versions = ", ".join(f"{n} {v}" for n, v in facts["made_with"].items())
    return f"""\
# A short-run MCMC model of {facts["dataset"]}, {height}x{width}x{channels}

K = {facts["K"]} Langevin steps on a learned energy, started from uniform
noise, are the generator (Nijkamp et al., NeurIPS 2019, arXiv:1904.09770).

## Data

- data set: {facts["dataset"]} (digest {facts["data_digest"]})
- licence of the data: {facts["licence_of_the_data"]}

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

## Limits

- The most of a request: {limits["batch"]} images, K = {limits["K"]},
  {limits["iterations"]} iterations; in `images` nothing beyond +-{largest:g}.
  Anything else is answered by an error that names the input.
- `K` and `iterations` are one number a request: leave a server's own batching
  of requests off.
- The same bits as in training need the same kind of device, and on a CPU
  `TF_ENABLE_ONEDNN_OPTS=1` in the server's environment.
- More steps than in training over-saturate. f is known up to a constant only:
  compare it within this model. Samples have the faults of the data.
"""


def _interventions_text(lines):
    return "".join(f"- {line}\n" for line in lines)


def _metrics_text(metrics):
    lines = [f"- {name}: {_listed(m)}" for name, m in metrics.items()]
    return "\n".join(lines) or "None were measured before the export."


def _signatures_text(specs):
    lines = ["| name | inputs | outputs | |", "|---|---|---|---|"]
    for name, about in signatures.SIGNATURES.items():
        inputs, outputs = (
            ", ".join(f"`{n}` {t}" for n, t in specs[name][side].items())
            for side in ("inputs", "outputs")
        )
        lines.append(f"| `{name}` | {inputs} | {outputs} | {about} |")
    return "\n".join(lines)


def _listed(values):
    return ", ".join(
        f"{name} {_shown(value)}" for name, value in values.items()
    )


def _shown(value):
    if isinstance(value, dict):
        return f"({_listed(value)})"
    return f"{value:.4g}" if isinstance(value, float) else value

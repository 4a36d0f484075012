"""bin/train: flags to a config, a config to a run."""

import functools
import os

from srmcmc_tf.cli import app, flags
from srmcmc_tf.config import config, presets
from srmcmc_tf.config.model_kinds import MODEL_KINDS
from srmcmc_tf.distribution import cluster
from srmcmc_tf.runs.run import Run


def main():
    app.run("train", train)


def train(argv):
    asked, argv = flags.wants_help(argv)
    given = parse(argv)
    if asked:
        print(_help(given))
        return 0
    workdir = given.pop("workdir", None)
    workdir = workdir or os.path.join("runs", _run_name(given))
    settings = Run(workdir).settle(given)
    # Checks TF_CONFIG before TensorFlow is imported, which takes seconds.
    cluster.from_environment(settings.strategy)
    app.import_tensorflow()
    from srmcmc_tf.training import train

    received = train.train(settings, workdir)
    return 128 + received if received else 0


def parse(argv):
    """The settings on a command line, by name; `UserError` for a wrong one."""
    parsers = {n: functools.partial(config.parse, n) for n in config.FIELDS}
    # Absolute, so that a run can be gone on with from anywhere.
    for name in ("data_dir", "inception"):
        parsers[name] = lambda text: os.path.abspath(os.path.expanduser(text))
    return flags.parse("train", argv, {**parsers, "workdir": str})


def _run_name(given):
    """The data set's, with the model's unless that is the usual one."""
    model = given.get("model", "ebm")
    dataset = given.get("dataset", "digits")
    return dataset if model == "ebm" else f"{dataset}_{model}"


def _help(given):
    name, model = given.get("dataset", "digits"), given.get("model", "ebm")
    default = presets.load(name, model)
    lines = [
        "Trains a short-run MCMC model, or a baseline. Started again in its",
        "--workdir, a run goes on where it stopped.",
        "",
        "  bin/train                                   handwritten digits",
        "  bin/train --dataset=cifar10 --K=50          another data set",
        "  bin/train --dataset=folder --data_dir=PATH  your own images",
        "",
        f"Defaults are those of configs/DATASET.py; below, those of {name}",
        "(bin/train --dataset=NAME --help shows another's).",
        "",
        "run directory:",
        flags.line(
            "workdir",
            f"runs/{_run_name(given)}",
            "where all it writes goes",
        ),
    ]
    group = None
    for field in config.FIELDS.values():
        if field.name in MODEL_KINDS[model].refused:
            continue
        if field.metadata["group"] != group:
            group = field.metadata["group"]
            lines += ["", f"{group}:"]
        text = field.metadata["help"]
        if config.allowed(field):
            text += f" ({config.allowed(field)})"
        value = getattr(default, field.name)
        lines.append(flags.line(field.name, value, text))
    return "\n".join([*lines, "", presets.describe(name).strip()])

"""bin/train: flags to a config, a config to a run."""

import os
import textwrap

from absl import flags

from srmcmc_tf import config, runs
from srmcmc_tf.cli import app
from srmcmc_tf.errors import UserError


def main():
    app.run("train", train)


def train(argv):
    if {"--help", "-h", "-help"} & set(argv):
        print(_help())
        return 0
    given = parse(argv)
    workdir = given.pop("workdir", None)
    workdir = workdir or os.path.join("runs", given.get("dataset", "digits"))
    settings = runs.settle(workdir, given)
    with app.quiet():
        import tensorflow as tf

        from srmcmc_tf import train

        tf.config.list_physical_devices()  # looks for a GPU, and says so
    received = train.train(settings, workdir)
    return 128 + received if received else 0


def parse(argv):
    """The settings on a command line, by name; `UserError` for a wrong one."""
    values = flags.FlagValues()
    for name in [*config.FIELDS, "workdir"]:
        flags.DEFINE_string(name, None, "", flag_values=values)
    try:
        rest = values(["bin/train", *argv])[1:]
    except flags.Error as error:
        raise UserError(f"{error} (bin/train --help lists the flags)") from None
    if rest:
        raise UserError(f"{rest[0]!r}: flags look like --name=value")
    given = {n: values[n].value for n in values if values[n].present}
    return {
        name: value if name == "workdir" else config.parse(name, value)
        for name, value in given.items()
        if name in config.FIELDS or name == "workdir"
    }


def _help():
    lines = [
        "Trains a short-run MCMC model. Started again in its --workdir, a run",
        "goes on where it stopped.",
        "",
        "  bin/train                                 handwritten digits",
        "  bin/train --dataset=cifar10 --K=50        another data set",
        "  bin/train --dataset=folder --data_dir=PATH  your own images",
        "",
        "Defaults are those of configs/DATASET.py; below, those of digits.",
        "",
        "run directory:",
        "  --workdir=runs/DATASET",
    ]
    default = config.load("digits")
    group = None
    for name, field in config.FIELDS.items():
        if field.metadata["group"] != group:
            group = field.metadata["group"]
            lines += ["", f"{group}:"]
        text = field.metadata["help"]
        if field.type is not str or field.metadata["choices"]:
            text += f" ({config.allowed(field)})"
        left = f"  --{name}={getattr(default, name)}"
        wrapped = textwrap.wrap(text, 46)
        lines += [f"{left:<32} {wrapped[0]}"]
        lines += [f"{'':<32} {line}" for line in wrapped[1:]]
    return "\n".join(lines)

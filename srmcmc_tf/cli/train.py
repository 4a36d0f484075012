"""bin/train: flags to a config, a config to a run."""

import os
import textwrap
from itertools import zip_longest

from absl import flags

from srmcmc_tf import config, runs
from srmcmc_tf.cli import app
from srmcmc_tf.errors import UserError


def main():
    app.run("train", train)


def train(argv):
    asked = [flag for flag in argv if flag in ("--help", "-help", "-h")]
    given = parse([flag for flag in argv if flag not in asked])
    if asked:
        print(_help(given.get("dataset", "digits")))
        return 0
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


def _help(name):
    default = config.load(name)
    lines = [
        "Trains a short-run MCMC model. Started again in its --workdir, a run",
        "goes on where it stopped.",
        "",
        "  bin/train                                   handwritten digits",
        "  bin/train --dataset=cifar10 --K=50          another data set",
        "  bin/train --dataset=folder --data_dir=PATH  your own images",
        "",
        f"Defaults are those of configs/DATASET.py; below, those of {name}",
        "(bin/train --dataset=NAME --help shows another's).",
        "",
        "run directory:",
        _flag("workdir", f"runs/{name}", "where all that a run writes goes"),
    ]
    group = None
    for field in config.FIELDS.values():
        if field.metadata["group"] != group:
            group = field.metadata["group"]
            lines += ["", f"{group}:"]
        text = field.metadata["help"]
        if config.allowed(field):
            text += f" ({config.allowed(field)})"
        lines.append(_flag(field.name, getattr(default, field.name), text))
    return "\n".join([*lines, "", config.describe(name).strip()])


def _flag(name, default, text):
    left = f"  --{name}={default}"
    lines = textwrap.wrap(text, 46)
    return "\n".join(
        f"{a:<32} {b}" for a, b in zip_longest([left], lines, fillvalue="")
    )

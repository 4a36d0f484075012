"""bin/train: flags to a config, a config to a run."""

import dataclasses
import functools
import itertools
import re
from typing import Any

from srmcmc_tf.cli import app, flags, parsers
from srmcmc_tf.config import config, datasets, fields, presets
from srmcmc_tf.distribution import cluster
from srmcmc_tf.runs.run import Run

_DESCRIPTION = """\
Trains a short-run MCMC model, or a baseline. Started again in its
--workdir, a run is resumed where it stopped.

  bin/train                                   handwritten digits
  bin/train --dataset=cifar10 --K=50          another dataset
  bin/train --dataset=folder --data_dir=PATH  your own images
  bin/train --from=preset:digits              tunes a trained model
  bin/train --conditional                     an energy for each class
  bin/train --dataset=cifar10 --recipe=pyramid
                                              the improved recipe

Defaults are those of configs/DATASET.py; below, those of {dataset}
(bin/train --dataset=NAME --help shows another's)."""

# Absolute paths, so that a run can be resumed from any directory.
_PARSERS = {
    "data_dir": parsers.absolute_path,
    "inception": parsers.absolute_path,
    "initial": parsers.origin,
    "mask": parsers.mask,
    "start_dir": parsers.absolute_path,
}


def main() -> None:
    app.run("train", train)


def train(argv: list[str]) -> int:
    args = parse(argv)
    if "from" in args.given:
        args.given["initial"] = args.given.pop("from")
    default = _default_workdir(args.dataset, args.model, args.recipe)
    if chosen := args.given.get("initial"):
        default = f"runs/{re.split('[:/]', chosen)[-1]}_tuned"
    run = Run(args.given.pop("workdir", "") or default)
    settings = run.settle(args.given)
    # Checks TF_CONFIG before TensorFlow is imported, which takes seconds.
    cluster.from_environment(settings.strategy)
    app.import_tensorflow()
    from srmcmc_tf.training import train

    received = train.train(settings, run.path)
    return 128 + received if received else 0


def parse(argv: list[str]) -> flags.Arguments:
    """Parses the flags of bin/train; `given` holds settings and `workdir`.

    A setting that is on or off needs no value to be on: `--conditional`.
    """
    switches = {
        f"--{fields.flag_name(field)}"
        for field in config.FIELDS.values()
        if field.metadata["choices"] == ("on", "off")
    }
    alone = [
        arg in switches and (after is None or after.startswith("-"))
        for arg, after in itertools.zip_longest(argv, argv[1:])
    ]
    return flags.parse(
        _command(config.Config()),
        [
            f"{arg}=on" if bare else arg
            for arg, bare in zip(argv, alone, strict=True)
        ],
        help_of=lambda args: _command(
            presets.load(args.dataset, args.model, recipe=args.recipe)
        ),
    )


def _command(default: config.Config) -> flags.Command:
    """The command, with the flags of a model and the defaults of a dataset."""
    workdir = flags.Flag(
        "workdir",
        _default_workdir(default.dataset, default.model, default.recipe),
        "where all it writes goes",
        group="run directory",
    )
    settings = [
        _flag(field, getattr(default, name))
        for name, field in config.FIELDS.items()
        if default.kind.accepts(name)
    ]
    return flags.Command(
        "train",
        _DESCRIPTION.format(dataset=default.dataset),
        (workdir, *settings),
        epilog=presets.describe(default.dataset).strip(),
        hints={"preset": "--from=preset:NAME tunes a trained model"},
    )


def _flag(field: dataclasses.Field, default: Any) -> flags.Flag:
    text, allowed = field.metadata["help"], fields.allowed(field)
    return flags.Flag(
        fields.flag_name(field),
        str(default),
        f"{text} ({allowed})" if allowed else text,
        _PARSERS.get(field.name) or functools.partial(config.parse, field.name),
        group=field.metadata["group"],
    )


def _default_workdir(dataset: str, model: str, recipe: str) -> str:
    chosen = {"model": model, "recipe": recipe}
    others = [v for n, v in chosen.items() if v != config.FIELDS[n].default]
    return "runs/" + "_".join([datasets.get(dataset).file_name, *others])

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

Defaults are those of configs/DATASET.py, of --recipe or of the preset of
--from; below, those of {chosen}
(another --dataset=NAME, --recipe or --from before --help shows its own)."""

_PYRAMID = """\
These are the settings of the improved recipe, not the paper's: docs/recipe.md
says what it costs, what to expect, and what each setting is for."""

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
    given = _settings(args)
    run = Run(given.pop("workdir", "") or _default_workdir(given))
    settings = run.settle(given)
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
        help_of=_help,
    )


def _settings(args: flags.Arguments) -> dict[str, Any]:
    """Returns the settings that were given, by the names of a config."""
    given = dict(args.given)
    if "from" in given:
        given["initial"] = given.pop("from")
    return given


def _help(args: flags.Arguments) -> flags.Command:
    """Returns the command with the defaults of what was given."""
    from srmcmc_tf.runs import defaults  # reads presets

    names = "dataset", "model", "recipe", "initial"
    given = {n: v for n, v in _settings(args).items() if n in names}
    return _command(defaults.new_config(given), _default_workdir(given))


def _command(default: config.Config, directory: str = "") -> flags.Command:
    """The command, with the flags of a model, defaults and run directory."""
    workdir = flags.Flag(
        "workdir",
        directory,
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
        _DESCRIPTION.format(chosen=_shown(default)),
        (workdir, *settings),
        epilog=_PYRAMID
        if default.recipe == "pyramid"
        else presets.describe(default.dataset).strip(),
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


def _shown(default: config.Config) -> str:
    """Returns what the defaults are of."""
    if default.initial:
        return default.initial
    words = [default.dataset]
    if default.recipe == "pyramid":
        words.append("--recipe=pyramid")
    return " ".join(words)


def _default_workdir(given: dict[str, Any]) -> str:
    """Returns the run directory of settings that name none."""
    usual = {name: field.default for name, field in config.FIELDS.items()}
    dataset = given.get("dataset", usual["dataset"])
    words = [datasets.get(dataset).file_name]
    if chosen := given.get("initial"):
        tuned = re.split("[:/]", chosen)[-1] + "_tuned"
        words = [tuned, *(words if "dataset" in given else [])]
    words += [
        given[name]
        for name in ("model", "recipe")
        if given.get(name, usual[name]) != usual[name]
    ]
    return "runs/" + "_".join(words)

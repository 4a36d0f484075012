"""Values of flags, from the flags' own ranges and beyond: one line, or done."""

import importlib
import random

import pytest
from helpers import TINY, flags

from srmcmc_tf.cli import train
from srmcmc_tf.cli.flags import Command, parse
from srmcmc_tf.config import config
from srmcmc_tf.errors import UserError

COMMANDS = (
    *("train", "sample", "interpolate", "reconstruct", "evaluate", "export"),
    *("demo", "reproduce", "benchmark", "attractors"),
)
ODD = (
    *("", " ", "-", "--", "=", ",", "...", "0,...", "1,1,...,5", "5-1", "-1"),
    *("nan", "inf", "-inf", "1e999", "1e-999", "0x10", "1_0", "١", "½", "1.5"),
    *(
        "9" * 5_000,
        "true",
        "None",
        "[]",
        "{}",
        "a\nb",
        "\x1b[31m",
        "é",
        "\udc80",
    ),
    *(
        "a" * 5_000,
        "../" * 50,
        "~nobody/x",
        "/dev/zero",
        "/proc/self/mem",
        "%s",
    ),
)


def command_of(name) -> Command:
    if name == "train":
        return train._command(config.Config())
    return importlib.import_module(f"srmcmc_tf.cli.{name}").COMMAND


def outside(name):
    """Values just beyond a setting's range, and those of other types."""
    rules = config.FIELDS[name].metadata
    if rules["choices"]:
        return [str(choice).upper() + "x" for choice in rules["choices"]]
    if rules["low"] is None:
        return []
    low, high = rules["low"], rules["high"]
    return [str(low - 1), str(high * 2 + 1), f"{low}x", "True", str(-high)]


def tried(name, values):
    """Parses values of each flag of a command; how many were parsed."""
    n = 0
    for flag in command_of(name).flags:
        for value in values:
            try:
                parse(command_of(name), [f"--{flag.name}={value}"])
            except UserError:
                pass  # app shows it as one line
            n += 1
    return n


@pytest.mark.parametrize("name", COMMANDS)
def test_odd_values_are_parsed_or_refused(name, count):
    some = random.Random(0).sample(ODD, 8)
    count("flags tried", tried(name, some))


@pytest.mark.parametrize("name", config.FIELDS)
def test_a_setting_beyond_its_range_is_refused(name, count):
    for value in outside(name):
        with pytest.raises(UserError, match=f"--{name}="):
            config.parse(name, value)
        count("flags tried")


@pytest.mark.faults
@pytest.mark.parametrize("name", COMMANDS)
def test_all_odd_values_are_parsed_or_refused(name, count):
    count("flags tried", tried(name, ODD))


# Values that are allowed, at the ends of the ranges, and paths of all kinds.
ALLOWED = {
    "sample": (
        *("--K=0", "--K=0,1,2", "--K=3,1", "--seeds=5,5", "--seeds=2147483647"),
        *("--trace --seeds=7", "--singles --seeds=1-3", "--K=0 --trace"),
        *("--K=0-3 --deterministic", "--seeds=0-2147483647", "--best"),
        *("--out=FILE", "--out=/dev/null", "--out=/proc/x", "--out="),
        *("--model_file=FILE", "--workdir="),
    ),
    "interpolate": ("--pairs=1 --columns=2", "--out=FILE", "--columns=1"),
    "reconstruct": (
        *("--n=1 --iterations=1", "--task=upscale --factor=64"),
        *("--task=upscale --factor=3", "--task=upscale --factor=8 --n=1"),
        *("--task=inpaint --mask=FILE", "--task=inpaint --mask=/dev/zero"),
        *("--task=inpaint --mask=DIR", "--task=inpaint --mask="),
        *("--images=DIR", "--images=FILE", "--rule=adam --n=1 --iterations=2"),
    ),
    "evaluate": (
        *("--n=2 --metrics=mse", "--metrics=", "--metrics=mse,mse --n=2"),
        *("--n=2 --inception=FILE", "--n=2 --inception=DIR --metrics=fid"),
        *("--real=FILE --fake=FILE", "--real=/dev/zero --fake=DIR"),
        *("--real=DIR --fake=DIR", "--n=2 --metrics=mse --out=FILE"),
    ),
    "export": ("--out=FILE", "--format=npz --out=DIR", "--out=/proc/x"),
    "attractors": (
        *("--n=2 --steps=1", "--images=FILE", "--images=DIR", "--out=FILE"),
        *("--n=2 --steps=1 --out=/proc/x",),
    ),
    "train": (
        *("--workdir=FILE", "--workdir=DIR/file/x", "--workdir=/proc/x"),
        *("--workdir=NEW --data_dir=FILE", "--workdir=NEW --dataset=folder"),
        *("--workdir=NEW --dataset=folder --data_dir=DIR",),
        *("--workdir=NEW --dataset=folder --data_dir=FILE",),
        *("--workdir=NEW --dataset=toy_2d", "--workdir=NEW --toy=rings"),
        *("--workdir=NEW --batch_size=1000000", "--workdir=NEW --n_examples=1"),
        *("--workdir=NEW --step_size=1e6", "--workdir=NEW --noise=1000"),
        *("--workdir=NEW --learning_rate=1", "--workdir=NEW --sigma=10"),
        *("--workdir=NEW --seed=2147483647", "--workdir=NEW --channels=3"),
        *("--workdir=NEW --strategy=multi_worker", "--workdir=NEW --ema=0.9"),
        *("--workdir=NEW --evaluate_every=1 --inception=FILE",),
        *("--workdir=NEW --jit_compile=true", "--workdir=NEW --n_left_out=0"),
    ),
    "demo": ("--export=FILE", "--export=DIR", "--export=DIR --port=70000"),
}


@pytest.mark.faults
@pytest.mark.parametrize("name", ALLOWED)
def test_allowed_values_are_done_or_one_line(
    name, trained, zygote, judge, count, tmp_path
):
    (tmp_path / "file").write_text("x")
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "file").write_text("x")
    for i, text in enumerate(ALLOWED[name]):
        places = {"FILE": "file", "DIR": "dir", "NEW": f"new{i}"}
        for word, place in places.items():
            text = text.replace(word, str(tmp_path / place))
        args = text.split(" ")
        if name == "train":
            args += flags(**{**TINY, "updates": 2, "n_f": 2})
            given = {arg.partition("=")[0] for arg in text.split(" ")}
            args = [
                arg
                for j, arg in enumerate(args)
                if j < len(given) or arg.partition("=")[0] not in given
            ]
        elif name != "demo" and not {"workdir", "real"} & set(
            text.replace("=", "--").split("--")
        ):
            args += [f"--workdir={trained[0]}"]
        ended = zygote.run(name, *args, cwd=tmp_path)
        count("flags tried")
        judge(ended)
        assert (tmp_path / "file").read_text() == "x", text

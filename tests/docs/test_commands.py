"""Every command in the documents is run in small, or at least parsed."""

import importlib
import re
import shlex

import documents
import pytest
from helpers import ROOT, call

from srmcmc_tf.cli import flags, train
from srmcmc_tf.distribution import cluster
from srmcmc_tf.runs import defaults

# Appended to a command, so that it takes a moment.
SMALL = {
    "attractors": ["--n=4", "--steps=5"],
    "evaluate": ["--n=8"],
    "reconstruct": ["--n=2", "--iterations=1"],
}
# Only parsed, because they need the network, a server that never ends, minutes
# or hours; or are like another one that is run.
PARSED = (
    r"bin/train --dataset=(cifar10|lsun_bedroom)(?!.*--help)",
    r"bin/train --from=(?!.*--help)",
    r"bin/train --dataset=\w+ .*--recipe=pyramid",
    r"bin/train .*--updates=(600|1200)\b",
    r"bin/train .*(--start=data|--task=upscale|--kernel=mala|--stop=slope)",
    r"bin/sample --workdir=runs/(inpaint|upscale|style|conditional) ",
    r"bin/evaluate --workdir=runs/conditional ",
    r"bin/evaluate --workdir=RUN .*(--inception|--real)=",  # Inception's
    r"bin/evaluate --preset=",
    r"bin/(sample --preset=cifar10 --nearest|reconstruct --preset=cifar10)",
    r"bin/demo ",
    r"bin/benchmark",
    r"bin/reproduce (?!.*--dry_run)",
)


@pytest.mark.parametrize("command", documents.commands(), ids=str)
def test_a_documented_command_works(command, inside, tmp_path):
    words = shlex.split(command)
    if "=" in words[0]:
        variable, _, text = words.pop(0).partition("=")
        assert variable == "TF_CONFIG" and cluster.read(text)
    name, args = words[0].removeprefix("bin/"), words[1:]
    if name == "test":
        paths = [word for word in args if word.startswith("tests/")]
        assert all((ROOT / path).exists() for path in paths)
    elif re.match("|".join(PARSED), shlex.join(words)):
        parse(name, args)
    elif name == "train" and not {"--help", "--workdir=runs/digits"} & {*args}:
        train_shortly(args, tmp_path / "run")
    else:
        code, out, error = call(name, *args, *SMALL.get(name, ()))
        assert code == 0, error
        assert out


def parse(name, args):
    if name == "train":
        given = train.parse(args).given
        given = {n: v for n, v in given.items() if n not in ("workdir", "from")}
        return defaults.new_config(given)  # checks that they go together
    module = importlib.import_module(f"srmcmc_tf.cli.{name}")
    return flags.parse(module.COMMAND, args)


def train_shortly(args, directory):
    """One update of a tiny network: a repeated flag counts the last time."""
    small = ["--n_f=2", "--batch_size=2", "--n_examples=8", "--n_left_out=1"]
    small += ["--updates=1", f"--workdir={directory}"]
    if not any(word.startswith("--model=") for word in args):
        small.append("--K=2")  # the baselines have no chain
    code, out, error = call("train", *args, *small)
    assert code == 0 and "update 1 of 1" in out, error


def test_the_flags_of_the_manifest_are_those_of_train():
    (block,) = documents.blocks("yaml")
    args = re.findall(r"^ +- (--\S+)$", block.text, re.M)
    assert train.parse(args).given["strategy"] == "multi_worker"


def test_every_command_is_documented():
    names = {line.split("bin/")[1].split()[0] for line in documents.commands()}
    assert names == {path.name for path in (ROOT / "bin").iterdir()}

"""Every command in the documents is run in small, or at least parsed."""

import importlib
import re
import shlex

import documents
import pytest
from helpers import ROOT, call

from srmcmc_tf.cli import flags, train
from srmcmc_tf.data import examples
from srmcmc_tf.distribution import cluster
from srmcmc_tf.models import factory
from srmcmc_tf.runs.run import Run

# Appended to a command, so that it takes a moment.
SMALL = {
    "evaluate": ["--n=8"],
    "reconstruct": ["--n=2", "--iterations=1"],
}
# Only parsed, because they need the network, a server that never ends, minutes
# or hours.
PARSED = (
    r"bin/train --dataset=cifar10(?!.*--help)",
    r"bin/demo ",
    r"bin/benchmark",
    r"bin/reproduce (?!.*--dry_run)",
)


@pytest.mark.parametrize("command", documents.commands(), ids=str)
def test_a_documented_command_works(command, inside):
    words = shlex.split(command)
    if "=" in words[0]:
        name, _, text = words.pop(0).partition("=")
        assert name == "TF_CONFIG" and cluster.read(text)
    verb, args = words[0].removeprefix("bin/"), words[1:]
    if verb == "test":
        paths = [word for word in args if word.startswith("tests/")]
        assert all((ROOT / path).exists() for path in paths)
    elif re.match("|".join(PARSED), shlex.join(words)):
        parse(verb, args)
    elif verb == "train" and not {"--help", "--workdir=runs/digits"} & {*args}:
        prepare_training(args)
    else:
        code, out, error = call(verb, *args, *SMALL.get(verb, ()))
        assert code == 0, error
        assert out


def parse(verb, args):
    if verb == "train":
        return train.parse(args)
    module = importlib.import_module(f"srmcmc_tf.cli.{verb}")
    return flags.parse(module.COMMAND, args)


def prepare_training(args):
    """All of a training but the updates: settings, examples, the model."""
    small = ["--n_f=2", "--batch_size=2", "--n_examples=8", "--n_left_out=1"]
    given = parse("train", [*args, *small]).given
    given.pop("workdir", None)
    config = Run("new").settle(given)
    found = examples.load(config)
    assert factory.build(config).image_shape == found.observed.shape[1:]


def test_the_flags_of_the_manifest_are_those_of_train():
    (block,) = documents.blocks("yaml")
    args = re.findall(r"^ +- (--\S+)$", block.text, re.M)
    assert train.parse(args).given["strategy"] == "multi_worker"


def test_every_command_is_documented():
    verbs = {line.split("bin/")[1].split()[0] for line in documents.commands()}
    assert verbs == {path.name for path in (ROOT / "bin").iterdir()}

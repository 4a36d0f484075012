"""The call paths in docs/design.md exist, and only go downwards."""

import configparser
import importlib

import documents
from helpers import ROOT

PATHS = [
    block
    for block in documents.blocks("")
    if block.name.startswith("design.md") and block.text.startswith("cli.")
]


def layers():
    """The packages from top to bottom, as import-linter enforces them."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    return setup["importlinter:contract:layers"]["layers"].split()


def find(name):
    """The object of a dotted name below the package."""
    module, _, attribute = name.rpartition(".")
    try:
        owner = importlib.import_module(f"srmcmc_tf.{module}")
    except ModuleNotFoundError:
        owner = find(module)
    return getattr(owner, attribute)


def test_there_is_a_path_of_each_command():
    starts = [block.text.split()[0] for block in PATHS]
    names = ["train", "sample", "evaluate", "export"]
    assert starts == [f"cli.{name}.{name}" for name in names]


def test_every_call_is_there_and_goes_downwards():
    order = layers()
    for block in PATHS:
        parents = {}
        for line in block.text.splitlines():
            name = line.strip()
            depth = (len(line) - len(name)) // 2
            assert callable(find(name)), name
            layer = order.index(name.split(".")[0])
            assert depth == 0 or layer >= parents[depth - 1], name
            parents[depth] = layer


def test_every_package_is_described():
    text = (ROOT / "docs" / "design.md").read_text()
    assert all(f"`{name}`" in text for name in layers())

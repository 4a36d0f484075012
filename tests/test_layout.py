"""Rules of the code base that no linter checks."""

import ast
import configparser

import pytest
from helpers import ROOT

PACKAGE = ROOT / "srmcmc_tf"
FILES = sorted(PACKAGE.rglob("*.py"))
# What users import from is tested as the public interface.
FACADES = {"callbacks.py", "energies.py", "metrics.py"}


def relative(path):
    return str(path.relative_to(PACKAGE))


def test_every_module_has_a_test_file_of_its_name():
    missing = [
        relative(path)
        for path in FILES
        if path.name != "__init__.py"
        and relative(path) not in FACADES
        and not (
            ROOT
            / "tests"
            / path.relative_to(PACKAGE).with_name(f"test_{path.name}")
        ).exists()
    ]
    assert not missing


def test_every_package_is_installed():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    listed = setup["options"]["packages"].split()
    found = [
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in PACKAGE.rglob("__init__.py")
    ]
    assert sorted(listed) == sorted([*found, "srmcmc_tf.configs"])


def test_no_file_exceeds_300_lines():
    long = {
        relative(path): n
        for path in FILES
        if (n := len(path.read_text().splitlines())) > 300
    }
    assert not long


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_only_commands_print(path):
    if path.parent.name == "cli":
        return
    calls = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert not calls


def test_only_runs_knows_the_files_of_a_run():
    files = {
        "config.json",
        "metrics.jsonl",
        "interventions.jsonl",
        "evaluations.json",
        "evaluation.json",
        "reconstruction.json",
    }
    folders = {"checkpoints", "best", "samples", "tensorboard", "generated"}
    found = {
        relative(path): names
        for path in FILES
        if path.parent.name != "runs"
        and (names := (files & _texts(path)) | (folders & _joined(path)))
    }
    assert not found


def _texts(path):
    """All texts of a file that are exactly one of its constants."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return {n.value for n in nodes if isinstance(n, ast.Constant)}


def _joined(path):
    """The texts that a file appends to a path by `/`."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return {
        node.right.value
        for node in nodes
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Div)
        and isinstance(node.right, ast.Constant)
    }

"""The examples in docstrings hold."""

import doctest
import importlib

import numpy as np
import pytest
from helpers import ROOT

import srmcmc_tf


def modules_with_examples():
    """The names of all modules with a section `Examples:`."""
    return [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sorted((ROOT / "srmcmc_tf").rglob("*.py"))
        if "    Examples:\n" in path.read_text()
    ]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_hold(name, inside):
    module = importlib.import_module(name)
    known = {"srmcmc_tf": srmcmc_tf, "np": np}
    result = doctest.testmod(module, extraglobs=known)
    assert result.attempted > 0 and result.failed == 0


def test_the_public_classes_have_examples():
    names = modules_with_examples()
    for name in ("models.short_run", "models.energies", "scores.fid"):
        assert f"srmcmc_tf.{name}" in names

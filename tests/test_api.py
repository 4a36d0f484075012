"""The public names: all there, documented, and no others."""

import inspect

import pytest
from helpers import ROOT

import srmcmc_tf
from srmcmc_tf import callbacks, data, energies, metrics, plots

MODULES = [callbacks, data, energies, metrics, plots]


def test_the_public_names_are_those_of_the_readme():
    assert set(srmcmc_tf.__all__) == {
        "Config",
        "ShortRunEBM",
        "Stage",
        "callbacks",
        "data",
        "energies",
        "load",
        "metrics",
        "plots",
        "train",
    }
    with pytest.raises(AttributeError, match="no attribute 'checkpoints'"):
        _ = srmcmc_tf.checkpoints


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_every_public_name_exists_and_is_documented(module):
    assert module.__all__ and module.__doc__
    for name in module.__all__:
        assert inspect.getdoc(getattr(module, name)), name


def test_type_hints_are_published():
    assert (ROOT / "srmcmc_tf" / "py.typed").exists()
    assert srmcmc_tf.load.__annotations__.keys() >= {"path", "return"}

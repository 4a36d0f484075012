import doctest
import importlib

import pytest

import srmcmc_tf

NAMES = [
    "baselines.dcgan",
    "baselines.vae",
    "config",
    "energy",
    "model",
    "schedule",
]


@pytest.mark.parametrize("name", NAMES)
def test_examples_in_docstrings_hold(name):
    module = importlib.import_module(f"srmcmc_tf.{name}")
    result = doctest.testmod(module, extraglobs={"srmcmc_tf": srmcmc_tf})
    assert result.attempted > 0 and result.failed == 0

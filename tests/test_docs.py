import doctest
import importlib

import numpy as np
import pytest

import srmcmc_tf

NAMES = [
    "config.presets",
    "metrics.fid",
    "metrics.inception_score",
    "metrics.kid",
    "models.baselines.dcgan",
    "models.baselines.vae",
    "models.energies",
    "models.schedules",
    "models.short_run",
    "training.guard.rule",
]


@pytest.mark.parametrize("name", NAMES)
def test_examples_in_docstrings_hold(name):
    module = importlib.import_module(f"srmcmc_tf.{name}")
    known = {"srmcmc_tf": srmcmc_tf, "np": np}
    result = doctest.testmod(module, extraglobs=known)
    assert result.attempted > 0 and result.failed == 0

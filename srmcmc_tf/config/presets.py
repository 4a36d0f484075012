"""The settings in `configs/`: one file per dataset."""

import dataclasses
import importlib.util
import pathlib
import types

from srmcmc_tf.config import datasets
from srmcmc_tf.config.config import Config
from srmcmc_tf.config.datasets import DATASETS
from srmcmc_tf.config.model_kinds import MODEL_KINDS
from srmcmc_tf.errors import UserError


def load(name: str, model: str = "ebm") -> Config:
    """Returns the `Config` of a dataset, from `configs/NAME.py`.

    Args:
        name: a dataset's name; `tfds:NAME` has the settings of `tfds`.
        model: a model's name; a baseline changes some settings.

    Examples:

    >>> load("cifar10").K
    100
    """
    changes = MODEL_KINDS[model].changes
    config = _module(name).config
    return dataclasses.replace(config, dataset=name, model=model, **changes)


def describe(name: str) -> str:
    """Returns the docstring of `configs/NAME.py`: command, cost, result."""
    return _module(name).__doc__ or ""


def _module(name: str) -> types.ModuleType:
    if datasets.is_name(name):
        name = name.partition(":")[0]
    package = pathlib.Path(__file__).resolve().parents[1]
    # Inside the package once installed, beside it in a clone.
    for folder in (package / "configs", package.parent / "configs"):
        path = folder / f"{name}.py"
        if path.exists():
            spec = importlib.util.spec_from_file_location(
                f"configs.{name}", path
            )
            assert spec and spec.loader
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise UserError(f"no configs/{name}.py; allowed is {', '.join(DATASETS)}")

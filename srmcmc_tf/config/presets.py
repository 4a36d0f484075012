"""The settings in `configs/`: one file per dataset."""

import dataclasses
import importlib.util
import pathlib
import types
from typing import Any

from srmcmc_tf.config import datasets, recipes
from srmcmc_tf.config.config import Config
from srmcmc_tf.config.datasets import DATASETS
from srmcmc_tf.config.model_kinds import MODEL_KINDS
from srmcmc_tf.errors import UserError


def load(
    name: str,
    model: str = "ebm",
    *,
    recipe: str = "paper",
    given: dict[str, Any] | None = None,
) -> Config:
    """Returns the `Config` of a dataset, from `configs/NAME.py`.

    Args:
        name: a dataset's name; `tfds:NAME` has the settings of `tfds`.
        model: a model's name; a baseline changes some settings.
        recipe: "paper", or "pyramid" for the improved recipe.
        given: settings by name that replace all others.

    Examples:

    >>> load("cifar10").K
    100
    >>> load("cifar10", recipe="pyramid").coarse_K
    '20,10'
    """
    given = given or {}
    config = _module(name).config
    changes = {"dataset": name, "model": model, **MODEL_KINDS[model].changes}
    if recipe == "pyramid":
        changes |= recipes.pyramid(config, given)
    return dataclasses.replace(config, **{**changes, **given})


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

"""The config of a new run: its dataset's, or that of the preset it tunes."""

import dataclasses
from typing import Any

from srmcmc_tf.config import datasets, presets, recipes
from srmcmc_tf.config.config import FIELDS, Config
from srmcmc_tf.config.model_kinds import MODEL_KINDS
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import preset


def _networks(config: Config) -> tuple[Any, ...]:
    """What the shapes of a model's weights follow from."""
    names = ("model", "image_size", "channels", "n_f", "network")
    values = [getattr(config, name) for name in names]
    return *values, len(config.scales), config.data.points


def _check_origin(given: dict[str, Any], base: Config) -> None:
    """Raises `UserError` for settings that a preset cannot be tuned with."""
    origin = f"--from={given['initial']}"
    recipe = given.get("recipe", base.recipe)
    if recipe != base.recipe:
        raise UserError(
            f"--recipe={recipe}: {origin} has the settings of "
            f"--recipe={base.recipe}"
        )
    dataset = datasets.get(given.get("dataset", base.dataset))
    if dataset.points and not base.data.points:
        raise UserError(
            f"{origin} is a model of images; {dataset.name} are points"
        )


def _of_dataset(base: Config, dataset: str) -> Config:
    """Returns settings with the data of another dataset."""
    if dataset == base.dataset:
        return base
    other = presets.load(dataset, recipe=base.recipe)
    names = "dataset", "n_examples", "n_left_out", "flip"
    return dataclasses.replace(
        base, **{name: getattr(other, name) for name in names}
    )


def new_config(given: dict[str, Any]) -> Config:
    """Returns the config that settings of a command line leave to defaults.

    Args:
        given: settings by name; `UserError` where they do not go together.
    """
    if given.get("initial"):
        base = preset.parse(given["initial"]).config
        base.kind.check_flags(given)
        _check_origin(given, base)
        base = _of_dataset(base, given.get("dataset", base.dataset))
        if base.recipe == "pyramid" and {"updates", "anneal_after"} & set(
            given
        ):
            updates = given.get("updates", base.updates)
            schedule = recipes.decays(updates, given.get("anneal_after"))
            warm_up = min(base.warm_up, updates // 20)
            base = dataclasses.replace(base, **schedule, warm_up=warm_up)
        if given.get("sigma") == "auto":  # one sigma of all stages
            base = dataclasses.replace(base, coarse_sigma="")
        config = dataclasses.replace(base, **given)
        if _networks(config) != _networks(base):
            raise preset.OtherNetworks(f"--from={config.initial}")
        return config
    usual = {name: field.default for name, field in FIELDS.items()}
    chosen = {**usual, **given}
    MODEL_KINDS[chosen["model"]].check_flags(given)
    return presets.load(
        chosen["dataset"], chosen["model"], recipe=chosen["recipe"], given=given
    )

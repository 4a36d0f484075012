"""Settings that do not go together."""

import dataclasses
from typing import TYPE_CHECKING

from srmcmc_tf.config import chain_settings, fields, scales
from srmcmc_tf.config.datasets import DATASETS
from srmcmc_tf.errors import UserError

if TYPE_CHECKING:
    from srmcmc_tf.config.config import Config


def check(config: "Config") -> None:
    """Raises `UserError` where settings contradict each other."""
    _check_toy(config)
    _check_stages(config)
    _check_classes(config)
    if config.sigma == "auto" and config.guard == "off":
        raise UserError("--sigma=auto: needs --guard=on")
    chain_settings.check(config)


def _check_toy(config: "Config") -> None:
    """Raises `UserError` where a toy is not of the dataset."""
    name, toys = config.dataset, config.data.toys
    if config.toy and not toys:
        others = [d.name for d in DATASETS.values() if d.toys]
        raise UserError(
            f"--toy={config.toy}: {name} has no toys; add "
            f"--dataset={' or '.join(others)}"
        )
    if toys and config.toy not in toys:
        raise UserError(
            f"--toy={config.toy}: {name} has {', '.join(toys)}"
            f"{fields.suggest(config.toy, toys)}"
        )
    if config.data.points and not config.kind.has_chain:
        raise UserError(
            f"--model={config.model} draws images; {name} are points"
        )


def _check_classes(config: "Config") -> None:
    """Raises `UserError` where settings do not allow an energy per class."""
    if config.conditional == "off":
        if config.classes:
            raise UserError(
                f"--classes={config.classes}: only for --conditional"
            )
        return
    if config.data.points:
        raise UserError(f"--conditional: {config.dataset} has no labels")
    if config.start in ("data", "degraded", "persistent"):
        raise UserError(
            f"--conditional: not for --start={config.start}, whose chains "
            "would start from images of other classes"
        )


def _check_stages(config: "Config") -> None:
    """Raises `UserError` where settings describe no stages."""
    steps = fields.parts(config.coarse_K, int)
    levels = fields.parts(config.coarse_sigma, float)
    if config.recipe == "pyramid" and not steps:
        raise UserError(
            "--recipe=pyramid: needs --coarse_K, the steps of its coarse "
            "stages; a single chain is --recipe=paper"
        )
    if config.data.points:
        for name, off in (("network", "paper"), ("flip", "off")):
            if getattr(config, name) != off:
                raise UserError(
                    f"--{name}={getattr(config, name)} is for images; "
                    f"{config.dataset} are points"
                )
        if steps:
            raise UserError(
                f"--coarse_K={config.coarse_K}: stages are for images; "
                f"{config.dataset} are points"
            )
    least = scales.LEAST_SIZE[config.network]
    if config.image_size >> len(steps) < least:
        raise UserError(
            f"--coarse_K={config.coarse_K}: {len(steps)} stages before "
            f"{config.image_size}x{config.image_size} would begin below the "
            f"{least}x{least} that --network={config.network} takes"
        )
    if levels and len(levels) != len(steps):
        raise UserError(
            f"--coarse_sigma={config.coarse_sigma}: must be one for each of "
            f"--coarse_K={config.coarse_K or '(none)'}"
        )
    usual = {field.name: field.default for field in dataclasses.fields(config)}
    if (
        config.start_noise != usual["start_noise"]
        and not steps
        and config.start != "degraded"
    ):
        raise UserError(
            f"--start_noise={config.start_noise}: only for --coarse_K and "
            "--start=degraded"
        )
    if levels and config.sigma == "auto":
        raise UserError(
            "--sigma=auto: is the sigma of all stages; no --coarse_sigma"
        )

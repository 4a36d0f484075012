"""Settings of the chains besides the paper's: start, kernel and stopping."""

import dataclasses
from typing import TYPE_CHECKING, Any

from srmcmc_tf.config import masks
from srmcmc_tf.config.fields import setting
from srmcmc_tf.errors import UserError

if TYPE_CHECKING:
    from srmcmc_tf.config.config import Config

GROUP = "chain"


def _setting(default: Any, text: str, *bounds: float, **rules: Any) -> Any:
    return setting(default, GROUP, text, *bounds, **rules)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChainSettings:
    """The fields of `Config` that choose another chain than the paper's."""

    start: str = _setting(
        "noise",
        "where chains start",
        choices=(
            "noise",
            "gaussian",
            "data",
            "persistent",
            "degraded",
            "dataset",
        ),
    )
    start_dir: str = _setting("", "dataset: a folder of images to start from")
    bank: int = _setting(10_000, "persistent: chains that are kept", 1, 10**7)
    reinitialize: float = _setting(
        0.05, "persistent: probability of a new start from noise", 0.0, 1.0
    )
    task: str = _setting(
        "inpaint",
        "degraded: what is learned",
        choices=("inpaint", "upscale", "colorize"),
    )
    mask: str = _setting(
        "center",
        "inpaint: center, left, or a PNG that is white where pixels are known",
    )
    factor: int = _setting(
        4, "upscale: how many times smaller the known image is", 2, 64
    )
    hold: str = _setting(
        "on", "degraded: keeps what is known of an image", choices=("on", "off")
    )
    kernel: str = _setting(
        "langevin",
        "the step of a chain",
        choices=("langevin", "mala", "hmc"),
    )
    leapfrog: int = _setting(5, "hmc: leapfrog steps in a step", 1, 1000)
    metropolis: str = _setting(
        "on", "hmc: rejects steps to keep the density", choices=("on", "off")
    )
    clip: float = _setting(
        0.0, "largest absolute value in f'; 0: any", 0.0, 1e6
    )
    clamp: float = _setting(
        0.0, "largest absolute value in x; 0: any", 0.0, 1e6
    )
    stop: str = _setting(
        "K",
        "after K steps, or before: when the norm of f' is small (slope), or f "
        "is that of data (level)",
        choices=("K", "slope", "level"),
    )
    stop_below: float = _setting(
        0.0, "slope: the norm of f' below which a chain stops", 0.0, 1e6
    )


# Which value of which setting a setting belongs to.
_BELONGS = {
    "start_dir": ("start", "dataset"),
    "bank": ("start", "persistent"),
    "reinitialize": ("start", "persistent"),
    "task": ("start", "degraded"),
    "hold": ("start", "degraded"),
    "mask": ("task", "inpaint"),
    "factor": ("task", "upscale"),
    "leapfrog": ("kernel", "hmc"),
    "metropolis": ("kernel", "hmc"),
    "stop_below": ("stop", "slope"),
}
NAMES = tuple(field.name for field in dataclasses.fields(ChainSettings))


def check(config: "Config") -> None:
    """Raises `UserError` where these settings do not go together."""
    defaults = {f.name: f.default for f in dataclasses.fields(ChainSettings)}
    for name, (owner, value) in _BELONGS.items():
        given = getattr(config, name)
        used = getattr(config, owner) == value
        needed = f"--{owner}={value}"
        if owner == "task":
            used = used and config.start == "degraded"
            needed = f"--start=degraded {needed}"
        if given != defaults[name] and not used:
            raise UserError(f"--{name}={given}: only for {needed}")
    if config.start == "dataset" and not config.start_dir:
        raise UserError(
            "--start=dataset: needs --start_dir=FOLDER of images to start from"
        )
    if config.stop == "slope" and not config.stop_below:
        raise UserError(
            "--stop=slope: needs --stop_below, the norm of f' at which to stop"
        )
    if config.start == "persistent" and config.bank < config.batch_size:
        raise UserError(
            f"--bank={config.bank}: must be at least --batch_size="
            f"{config.batch_size}"
        )
    if len(config.scales) > 1 and config.start != "noise":
        raise UserError(
            f"--start={config.start}: the stages of --coarse_K start from noise"
        )
    if len(config.scales) > 1 and config.stop == "level":
        raise UserError("--stop=level: not for the stages of --coarse_K")
    corrected = config.kernel == "mala" or (
        config.kernel == "hmc" and config.metropolis == "on"
    )
    if config.clamp and corrected:
        raise UserError(
            f"--clamp={config.clamp}: would break the Metropolis correction; "
            "use --kernel=langevin, or --kernel=hmc --metropolis=off"
        )
    if config.data.points and config.start in ("degraded", "dataset"):
        raise UserError(
            f"--start={config.start}: for images; {config.dataset} are points"
        )
    if config.start == "degraded":
        _check_task(config)


def _check_task(config: "Config") -> None:
    if config.task == "inpaint":
        try:
            masks.known_pixels(config.mask, config.image_size)
        except ValueError as error:
            raise UserError(f"--mask: {error}") from None
    elif config.task == "upscale" and config.image_size % config.factor:
        raise UserError(
            f"--factor={config.factor}: must divide --image_size="
            f"{config.image_size}"
        )
    elif config.task == "colorize" and config.channels != 3:
        raise UserError("--task=colorize: the images are gray, not in color")
    if config.clamp and config.hold == "on" and config.task != "inpaint":
        raise UserError(
            f"--clamp={config.clamp}: would change what --task={config.task} "
            "holds; use --hold=off"
        )

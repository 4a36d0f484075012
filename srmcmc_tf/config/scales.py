"""The stages that the settings of a run describe."""

from typing import TYPE_CHECKING, NamedTuple

from srmcmc_tf.config import fields

if TYPE_CHECKING:
    from srmcmc_tf.config.config import Config

# The smallest image that a network takes.
LEAST_SIZE = {"paper": 8, "pooled": 4}


class Scale(NamedTuple):
    """One stage.

    Attributes:
        size: height and width of its images.
        K: steps of its chain.
        sigma: noise added to its data before it decays, or "auto".
    """

    size: int
    K: int
    sigma: float | str


def of(config: "Config") -> list[Scale]:
    """Returns the stages of a run, coarse to fine; the paper's is one."""
    steps = fields.parts(config.coarse_K, int)
    levels = fields.parts(config.coarse_sigma, float)
    levels = levels or [config.sigma] * len(steps)
    n = len(steps)
    return [
        Scale(config.image_size >> n - i, K, sigma)
        for i, (K, sigma) in enumerate(
            zip([*steps, config.K], [*levels, config.sigma], strict=True)
        )
    ]

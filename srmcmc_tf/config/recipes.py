"""The improved recipe: `--recipe=pyramid`, as changes of a dataset's config.

It is not in the paper; docs/recipe.md says what each change is for.
"""

import math
from typing import TYPE_CHECKING, Any

from srmcmc_tf.errors import UserError

if TYPE_CHECKING:
    from srmcmc_tf.config.config import Config

RECIPES = ("paper", "pyramid")

# What is as likely as its mirror image; a digit or the left shoe is not, and of
# a folder nothing is known.
_MIRRORED = ("cifar10", "celeb_a", "celeb_a_128", "lsun_bedroom")


def pyramid(base: "Config", given: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings that the recipe changes.

    Args:
        base: the dataset's config.
        given: settings that the user chose. The stages follow the image size,
            and the decays end with the updates.
    """
    if base.data.points:
        raise UserError(
            f"--recipe=pyramid is for images; {base.dataset} are points"
        )
    size = given.get("image_size", base.image_size)
    updates = given.get("updates", 8_000)
    # From 8x8 on; images of 8x8 from 4x4 on.
    coarser = max((size // 8).bit_length() - 1, 1)
    # `auto` is one sigma of all stages.
    auto = given.get("sigma") == "auto"
    return dict(
        recipe="pyramid",
        network="pooled",
        n_f=32,
        coarse_K=",".join(["20"] + ["10"] * (coarser - 1)),
        K=10,
        start_noise=0.03,
        noise=0.015,
        noise_decay=1.0,
        flip="on" if base.dataset in _MIRRORED else "off",
        batch_size=16,
        updates=updates,
        learning_rate=1e-3,
        beta_1=0.5,
        sigma=0.06,
        coarse_sigma="" if auto else ",".join(["0.05"] * coarser),
        ema=0.998,
        **decays(updates, given.get("anneal_after")),
    )


def decays(updates: int, after: int | None = None) -> dict[str, Any]:
    """Returns the schedule of a run, whose second half is the decay.

    The learning rate falls to a tenth, sigma to a third.

    Args:
        updates: of the run.
        after: the update after which the decay begins, if chosen.
    """
    if after is None:
        after = updates // 2
    decay = updates - after
    return dict(
        anneal_after=after,
        learning_rate_half_life=max(round(decay / math.log2(10)), 1),
        sigma_half_life=max(round(decay / math.log2(3)), 1),
    )

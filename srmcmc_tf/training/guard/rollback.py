"""Divergence recovery: roll back to a good checkpoint, resume with a new seed.

A rollback discards the checkpoints after the last good one and records an
intervention; the run then resumes from that checkpoint with another branch of
its seed. If training diverges again near the same update, sigma is raised above
the one that failed. All of it follows from the config, so two runs of a config
roll back identically.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from srmcmc_tf.config.config import Config
from srmcmc_tf.errors import NonFiniteError
from srmcmc_tf.models import factory, schedules
from srmcmc_tf.models.divergence import Divergence
from srmcmc_tf.models.schedules import SigmaSchedule
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.runs import interventions, tensorboard
from srmcmc_tf.runs.checkpoints import Checkpoints
from srmcmc_tf.runs.interventions import Intervention
from srmcmc_tf.runs.run import Run
from srmcmc_tf.sampling import rng

logger = logging.getLogger(__name__)

# A checkpoint is good if training did not diverge for so many updates after it.
GOOD_AFTER = 200
# A divergence within so many updates after the previous one is a repetition.
AGAIN = 1_000
SIGMA_FACTOR = 1.4  # sigma that is tried, over the one that failed
SIGMA_FLOOR = 0.01  # counts as the one that failed where it was smaller


class Branch(NamedTuple):
    """How a run continues: as its config says, or as a rollback left it.

    Attributes:
        seed: names the noise and the order of the data.
        sigmas: the schedule of sigma of each stage, coarse to fine.
    """

    seed: int
    sigmas: tuple[SigmaSchedule, ...]

    @property
    def sigma(self) -> SigmaSchedule:
        """The schedule of sigma of the finest stage."""
        return self.sigmas[-1]


def branch(
    config: Config,
    past: Sequence[Intervention] = (),
    sigma_state: dict[str, Any] | None = None,
) -> Branch:
    """Returns the branch of a run after its past interventions.

    Args:
        config: the run's settings.
        past: the interventions that led to the checkpoint it resumes from.
        sigma_state: of the schedule, from that checkpoint.
    """
    least = past[-1]["sigma_least"] if past else 0.0
    sigmas = factory.sigmas(config, least, sigma_state)
    return Branch(branch_seed(config.seed, len(past)), tuple(sigmas))


def branch_seed(base: int, number: int) -> int:
    """Returns the seed of the branch after so many interventions."""
    return rng.branch(base, rng.BRANCH, number) if number else base


def roll_back(
    run: Run,
    divergence: Divergence,
    *,
    every: int,
    sigma: float,
    seed: Callable[[int], int],
    raise_sigma: str = "again",
    start: int = 0,
) -> Intervention:
    """Discards what followed the last good checkpoint, and records that.

    Args:
        run: the run.
        divergence: what the guard saw.
        every: updates between two checkpoints.
        sigma: the one that failed.
        seed: the number of an intervention to the seed of its branch.
        raise_sigma: "again", where it diverges again nearby, or "always", or
            "never".
        start: the update that can be rolled back to without a checkpoint.

    Returns:
        The intervention; `NonFiniteError` where there were too many.
    """
    before = run.interventions.up_to(divergence.update)
    back_to = _last_good(run.checkpoints, every, divergence.update, start)
    run.checkpoints.discard_after(back_to)
    if len(before) >= interventions.MAXIMUM:
        raise NonFiniteError(
            f"{divergence}: the training diverges, and rolling back "
            f"{interventions.MAXIMUM} times did not help. The last good "
            f"checkpoint is {run.checkpoints.latest() or 'none'}; try a larger "
            "sigma or K, or a smaller learning rate, in another directory"
        )
    least = before[-1]["sigma_least"] if before else 0.0
    again = before and divergence.update <= before[-1]["update"] + AGAIN
    if raise_sigma == "always" or (again and raise_sigma == "again"):
        least = max(sigma, SIGMA_FLOOR) * SIGMA_FACTOR
    number = len(before) + 1
    intervention = {
        "number": number,
        "update": divergence.update,
        "reason": divergence.reason,
        "sigma": sigma,
        "back_to": back_to,
        "seed": seed(number),
        "sigma_least": least,
    }
    run.interventions.write([*before, intervention])
    _report(run, intervention)
    return intervention


def roll_back_run(
    run: Run,
    config: Config,
    divergence: Divergence,
    sigma: Callable[[int], Any],
) -> None:
    """Rolls a run of `bin/train` back; see `roll_back`.

    Args:
        run: the run.
        config: its settings.
        divergence: what the guard saw.
        sigma: function from an update to its sigma.
    """
    intervention = roll_back(
        run,
        divergence,
        every=config.checkpoint_every,
        sigma=float(sigma(divergence.update - 1)),
        seed=lambda number: branch_seed(config.seed, number),
        raise_sigma="always" if config.sigma == "auto" else "again",
    )
    logger.info(interventions.describe(intervention))


def own_sigma(model: ShortRunEBM) -> float:
    """Returns the sigma of the noise that a model adds to the data now."""
    sigma = model.stages[-1].sigma
    return float(sigma(model.update) if callable(sigma) else sigma)


def use_branch(model: ShortRunEBM, past: Sequence[Intervention]) -> None:
    """Gives a model the seed, and the sigma, after its interventions."""
    least = past[-1]["sigma_least"]
    if 0.0 < own_sigma(model) < least:
        model.set_sigmas(
            [schedules.at_least(stage.sigma, least) for stage in model.stages]
        )
    model.set_seed(past[-1]["seed"])


def lost_updates(past: Sequence[Intervention]) -> int:
    """Returns how many updates were undone by interventions."""
    return sum(one["update"] - one["back_to"] for one in past)


def kept(every: int, update: int) -> set[int]:
    """Returns the updates whose checkpoints a run at `update` must keep.

    They are the two newest that it may roll back to, multiples of
    `checkpoint_every` or of more where these are close together, and the one
    before: it is needed where the one that a run rolls back to is damaged.
    """
    stride = _stride(every)
    newest = update // stride * stride
    return {newest - i * stride for i in range(3)}


def _stride(every: int) -> int:
    return -(-GOOD_AFTER // every) * every


def _last_good(
    checkpoints: Checkpoints, every: int, update: int, start: int = 0
) -> int:
    # Only those a run always has: not one that was saved on a signal.
    stride = _stride(every)
    there = [n for n in checkpoints.updates() if n % stride == 0]
    if start not in there and (not there or there[0] <= start + stride):
        there.insert(0, start)
    good = [n for n in there if n <= update - GOOD_AFTER]
    return good[-1] if good else there[0]


def _report(run: Run, intervention: Intervention) -> None:
    text = interventions.describe(intervention)
    # By its number: TensorBoard drops what a run logged of later updates when
    # it rolls back.
    with tensorboard.once(run.tensorboard_directory, intervention["number"]):
        tensorboard.scalar(
            "guard/update_of_intervention", intervention["update"]
        )
        tf.summary.text("guard/intervention", text)

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
from srmcmc_tf.models.schedules import Anneal, AutoSigma, SigmaSchedule
from srmcmc_tf.runs import interventions, tensorboard
from srmcmc_tf.runs.checkpoints import Checkpoints
from srmcmc_tf.runs.interventions import Intervention
from srmcmc_tf.runs.run import Run
from srmcmc_tf.sampling import rng
from srmcmc_tf.training.guard.rule import Divergence

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
        sigma: the schedule of sigma.
    """

    seed: int
    sigma: SigmaSchedule


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
    sigma: SigmaSchedule
    if config.sigma == "auto":
        sigma = AutoSigma(
            learning_rate=config.learning_rate,
            least=max(least, config.noise),
            state=sigma_state,
        )
    else:
        sigma = Anneal(
            config.sigma,
            after=config.anneal_after,
            half_life=config.sigma_half_life,
            least=least,
        )
    return Branch(branch_seed(config.seed, len(past)), sigma)


def branch_seed(base: int, number: int) -> int:
    """Returns the seed of the branch after so many interventions."""
    if not number:
        return base
    stream = rng.stream(base).fold(rng.BRANCH, number)
    return int(stream.integer(2**31 - 1))


def roll_back(
    run: Run,
    config: Config,
    divergence: Divergence,
    sigma: Callable[[int], Any],
) -> None:
    """Rolls a run back; `NonFiniteError` where that was done too often.

    Args:
        run: the run.
        config: its settings.
        divergence: what the guard saw.
        sigma: function from an update to its sigma.
    """
    failed = float(sigma(divergence.update - 1))
    before = run.interventions.up_to(divergence.update)
    back_to = _last_good(
        run.checkpoints, config.checkpoint_every, divergence.update
    )
    run.checkpoints.discard_after(back_to)
    if len(before) >= interventions.MAXIMUM:
        raise NonFiniteError(
            f"{divergence}: the training diverges, and rolling back "
            f"{interventions.MAXIMUM} times did not help. The last good "
            f"checkpoint is {run.checkpoints.latest() or 'none'}; try a larger "
            "--sigma or --K, or a smaller --learning_rate, in another --workdir"
        )
    least = before[-1]["sigma_least"] if before else 0.0
    again = before and divergence.update <= before[-1]["update"] + AGAIN
    if again or config.sigma == "auto":
        least = max(failed, SIGMA_FLOOR) * SIGMA_FACTOR
    number = len(before) + 1
    intervention = {
        "number": number,
        "update": divergence.update,
        "reason": divergence.reason,
        "sigma": failed,
        "back_to": back_to,
        "seed": branch_seed(config.seed, number),
        "sigma_least": least,
    }
    run.interventions.write([*before, intervention])
    _report(run, intervention)


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


def _last_good(checkpoints: Checkpoints, every: int, update: int) -> int:
    # Only those a run always has: not one that was saved on a signal.
    stride = _stride(every)
    there = [n for n in checkpoints.updates() if n % stride == 0]
    if not there or there[0] == stride:
        there.insert(0, 0)  # the start of the run
    good = [n for n in there if n <= update - GOOD_AFTER]
    return good[-1] if good else there[0]


def _report(run: Run, intervention: Intervention) -> None:
    text = interventions.describe(intervention)
    logger.info(text)
    # By its number: TensorBoard drops what a run logged of later updates when
    # it rolls back.
    with tensorboard.once(run.tensorboard_directory, intervention["number"]):
        tf.summary.scalar(
            "guard/update_of_intervention", intervention["update"]
        )
        tf.summary.text("guard/intervention", text)

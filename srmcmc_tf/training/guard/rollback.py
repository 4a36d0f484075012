"""What is done about trouble: a run goes back and takes another way.

An intervention discards the checkpoints after the last good one, adds a line
to RUN/interventions.jsonl, and lets the run go on from there with another
branch of its seed. Where trouble comes again near the same place, sigma is
raised above the one that failed. All of it follows from the config, so two
runs of a config intervene alike.

The line is written last: a run that is killed before simply comes to the
same trouble again. A checkpoint at update u belongs to the branch after the
last intervention that went back to u or before, so nothing else is stored.
"""

import json
import os
import pathlib
from typing import NamedTuple

import keras
import tensorflow as tf
from tqdm import tqdm

from srmcmc_tf.errors import NonFiniteError
from srmcmc_tf.models import schedules
from srmcmc_tf.runs import checkpoints, tensorboard
from srmcmc_tf.sampling import rng
from srmcmc_tf.training.guard import rule

MOST = 10  # interventions of a run
# A checkpoint is good if there was no trouble for so many updates after it.
GOOD_AFTER = 200
# Trouble within so many updates after that of the time before comes again.
AGAIN = 1_000
LARGER = 1.4  # sigma that is tried, over the one that failed
LEAST = 0.01  # what counts as the one that failed where there was none


class Way(NamedTuple):
    """How a run goes on: as its config says, or as an intervention left it.

    Attributes:
        seed: names the noise and the order of the data.
        sigma: function from an update to its sigma.
        guard: a `Guard`, or None where the config wants none.
    """

    seed: int
    sigma: object
    guard: object


class Guard(keras.callbacks.Callback):
    """Judges each update by `guard`'s rule and raises `rule.Trouble`.

    Args:
        sigma: update to sigma; a `schedules.AutoSigma` is told of the unrest.
        every: updates between two checkpoints.
        last: the last update of the run.
        state: `rule.State.to_dict` to go on from.
    """

    def __init__(self, sigma, *, every, last, state=None):
        super().__init__()
        self.sigma = sigma
        self.every = every
        self.last = last
        self.state = rule.State(**(state or {}))
        self.shown = {}  # what the log tells beside the update's quantities

    def on_train_batch_end(self, batch, logs=None):
        update = self.model.update
        logs = {name: float(value) for name, value in logs.items()}
        broken = rule.not_finite(logs)
        if broken:
            raise rule.Trouble(update, broken)
        if update % self.every == 0 or update == self.last:
            self._check_weights(update)
        self.state = rule.observe(self.state, logs)
        if self.state.in_trouble:
            raise rule.Trouble(update, _describe(self.state, logs))
        sigma = float(self.sigma(update - 1))  # before it learns of the unrest
        self.shown = {"sigma": sigma, "unrest": self.state.unrest}
        if hasattr(self.sigma, "observe"):
            self.sigma.observe(update, self.state.unrest)

    def save(self, directory, model):
        """A checkpoint with what it takes to go on from it, or back to it."""
        notes = {"guard": self.state.to_dict()}
        if hasattr(self.sigma, "to_dict"):
            notes["sigma"] = self.sigma.to_dict()
        update = model.update
        keep = kept(self.every, update)
        return checkpoints.save(directory, model, keep=keep, notes=notes)

    def _check_weights(self, update):
        # Before the chief saves: all workers must see the same trouble.
        try:
            checkpoints.check_finite(self.model, update)
        except NonFiniteError as error:
            raise rule.Trouble(update, str(error)) from None


def way(config, past=(), notes=None):
    """The way of a run after its past interventions.

    Args:
        config: a `Config`.
        past: what `past` gave.
        notes: of the checkpoint, from `Guard.save`.

    Returns:
        A `Way`.
    """
    notes = notes or {}
    least = past[-1]["sigma_least"] if past else 0.0
    if config.sigma == "auto":
        sigma = schedules.AutoSigma(
            learning_rate=config.learning_rate,
            least=max(least, config.noise),
            state=notes.get("sigma"),
        )
    else:
        sigma = schedules.Anneal(
            config.sigma,
            after=config.anneal_after,
            half_life=config.sigma_half_life,
            least=least,
        )
    guarded = config.guard == "on" and config.model == "ebm"
    watch = Guard(
        sigma,
        every=config.checkpoint_every,
        last=config.updates,
        state=notes.get("guard"),
    )
    name = seed(config.seed, len(past))
    return Way(name, sigma, watch if guarded else None)


def past(workdir, update):
    """The interventions that led to a checkpoint.

    Args:
        workdir: the run directory.
        update: that of the checkpoint; 0 for the start.

    Returns:
        A list of dictionaries, lines of interventions.jsonl.
    """
    path = _path(workdir)
    lines = path.read_text().splitlines() if path.exists() else []
    there = [json.loads(line) for line in lines]
    count = max(
        (i for i, one in enumerate(there, 1) if one["back_to"] <= update),
        default=0,
    )
    return there[:count]


def go_on(workdir, update):
    """`past` of a run that goes on from a checkpoint.

    Later ones are forgotten: their checkpoints were lost, and the run will
    come to them again.
    """
    there = past(workdir, update)
    if _path(workdir).exists():
        _write(_path(workdir), there)
    return there


def intervene(workdir, config, trouble, sigma):
    """Takes a run back; `NonFiniteError` where that was done too often.

    Args:
        workdir: the run directory.
        config: its `Config`.
        trouble: `rule.Trouble`.
        sigma: function from an update to its sigma.
    """
    sigma = float(sigma(trouble.update - 1))
    directory = pathlib.Path(workdir) / "checkpoints"
    before = past(workdir, trouble.update)
    back_to = _last_good(directory, config.checkpoint_every, trouble.update)
    checkpoints.discard_after(directory, back_to)
    if len(before) >= MOST:
        raise NonFiniteError(
            f"{trouble}: the training diverges, and going back {MOST} times "
            "did not help. The last good checkpoint is "
            f"{checkpoints.latest(directory) or 'none'}; try a larger --sigma "
            "or --K, or a smaller --learning_rate, in another --workdir"
        )
    least = before[-1]["sigma_least"] if before else 0.0
    again = before and trouble.update <= before[-1]["update"] + AGAIN
    if again or config.sigma == "auto":
        least = max(sigma, LEAST) * LARGER
    number = len(before) + 1
    line = {
        "number": number,
        "update": trouble.update,
        "reason": trouble.reason,
        "sigma": sigma,
        "back_to": back_to,
        "seed": seed(config.seed, number),
        "sigma_least": least,
    }
    _write(_path(workdir), [*before, line])
    _show(workdir, line)


def tell(line):
    """An intervention in words."""
    text = (
        f"guard: update {line['update']:,}: {line['reason']}; intervention "
        f"{line['number']} of at most {MOST}: back to update "
        f"{line['back_to']:,}, with another seed"
    )
    if line["sigma_least"]:
        text += f" and sigma not below {line['sigma_least']:.3g}"
    return text


def seed(base, number):
    """The seed of the branch after so many interventions."""
    if not number:
        return base
    folded = rng.fold(rng.seed_of(base), rng.BRANCH, number)
    return int(rng.integer(folded, 2**31 - 1))


def kept(every, update):
    """The updates whose checkpoints a run at `update` must keep.

    They are the two newest that it may go back to, multiples of
    `checkpoint_every` or of more where these are close together, and the one
    before: it is needed where the one that a run goes back to is damaged.
    """
    newest = update // _stride(every) * _stride(every)
    return {newest - i * _stride(every) for i in range(3)}


def _stride(every):
    return -(-GOOD_AFTER // every) * every


def _last_good(directory, every, update):
    # Only those a run always has: not the one that a signal left.
    stride = _stride(every)
    there = [n for n in checkpoints.updates(directory) if n % stride == 0]
    if not there or there[0] == stride:
        there.insert(0, 0)  # the start of the run
    good = [n for n in there if n <= update - GOOD_AFTER]
    return good[-1] if good else there[0]


def _describe(state, logs):
    values = ", ".join(f"{name} {logs[name]:.3g}" for name in state.values)
    return f"unrest {state.unrest:.1f} ({values})"


def _show(workdir, line):
    text = tell(line)
    tqdm.write(text)
    # By its number: TensorBoard forgets what a run told of later updates when
    # it goes back.
    with tensorboard.once(workdir / "tensorboard", line["number"]):
        tf.summary.scalar("guard/update_of_intervention", line["update"])
        tf.summary.text("guard/intervention", text)


def _path(workdir):
    return pathlib.Path(workdir) / "interventions.jsonl"


def _write(path, lines):
    temporary = path.with_suffix(".tmp")
    with open(temporary, "w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)

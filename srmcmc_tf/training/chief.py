"""What the chief does, or the only process: updates, and all files of a run."""

import contextlib
import logging
import time

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import toys
from srmcmc_tf.distribution import strategies
from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.evaluation import evaluate, image_sets
from srmcmc_tf.models.divergence import Divergence
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.runs import checkpoints, preset
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import report
from srmcmc_tf.training import session as sessions
from srmcmc_tf.training.callbacks.checkpoints import Checkpoints
from srmcmc_tf.training.callbacks.evaluate import Evaluate
from srmcmc_tf.training.callbacks.log import Log
from srmcmc_tf.training.callbacks.pictures import Pictures, ToyFigures
from srmcmc_tf.training.callbacks.progress import Progress
from srmcmc_tf.training.guard import rollback
from srmcmc_tf.training.guard.judge import Judge
from srmcmc_tf.training.guard.rollback import Branch
from srmcmc_tf.training.session import Restored, Session

logger = logging.getLogger(__name__)


def attempt(session: Session, run: Run) -> None:
    """Trains from the newest checkpoint to the end, or until a divergence.

    After a divergence the run is rolled back, and `Divergence` raised.
    """
    try:
        _attempt(session, run)
    except OSError as error:
        raise UserError(
            f"cannot write to {error.filename or run} "
            f"({error.strerror or error}); the newest checkpoint is "
            f"{run.checkpoints.latest() or 'none'}. {checkpoints.REMEDY}"
        ) from None


def _attempt(session: Session, run: Run) -> None:
    config = session.config
    with session.strategy.scope():
        model = sessions.build(session)
        logger.info("%s: %s", config.model, report.weights(model))
        restored = _restore(run, config, model)
        strategies.share_state(model)
    strategies.broadcast_from_chief(session.strategy, restored)
    branch = sessions.branch(session, restored, model)
    guard = sessions.guard(session, restored, branch)
    try:
        _fit(session, run, model, branch, guard)
    except Divergence as divergence:
        rollback.roll_back_run(run, config, divergence, branch.sigma)
        raise
    except NonFiniteError as error:
        larger = "a larger --sigma or --K, or " if config.kind.has_chain else ""
        raise NonFiniteError(
            f"{error}: the training diverges. The last good checkpoint is "
            f"{run.checkpoints.latest() or 'none'}; try {larger}a smaller "
            "--learning_rate, in another --workdir"
        ) from None


def _restore(run: Run, config: Config, model: Generator) -> Restored:
    """Restores the newest checkpoint, and drops what is later than it."""
    newest = run.checkpoints.restore_newest(model)
    # Before anything is dropped: it may be damaged, and is then an error.
    past = run.interventions.up_to(model.update)
    if newest:
        run.checkpoints.discard_after(model.update)
        logger.info("resuming from update %s, %s", f"{model.update:,}", newest)
        notes = checkpoints.notes(newest)
    else:
        report.log_config(run, config)
        if config.initial:
            _start_from(config, model)
        notes = None
    run.interventions.resume(model.update)
    return Restored(past, notes or {})


def _start_from(config: Config, model: Generator) -> None:
    """Gives a new run the weights of the preset it starts from."""
    chosen = preset.parse(config.initial)
    preset.assign(model, chosen.weights(), f"--from={config.initial}")
    if config.ema:
        model.keep_average(config.ema)
    logger.info("starting from the weights of %s", chosen)


def _fit(
    session: Session,
    run: Run,
    model: Generator,
    branch: Branch,
    guard: Judge | None,
) -> None:
    """Fits, with all callbacks that write, and reports the result."""
    config, start = session.config, model.update
    log = Log(
        run.path,
        every=config.log_every,
        extra=(lambda: guard.shown) if guard else dict,
    )
    saves = Checkpoints(
        run.path,
        every=config.checkpoint_every,
        keep=guard.keep if guard else None,
        notes=guard.notes if guard else None,
    )
    pictures = _pictures(session, run)
    evaluation = _evaluation(session, run)
    progress = Progress(config.updates, saves.saved)
    callbacks = [log, pictures, saves, *evaluation, session.stop, progress]
    begin = time.perf_counter()
    with contextlib.ExitStack() as stack:
        for callback in callbacks:  # also where a divergence ends `fit`
            stack.callback(callback.close)
        if start >= config.updates:
            for callback in evaluation:
                callback.resume(model)
        first = sessions.first(config, guard)
        sessions.fit(session, model, branch, [*first, *callbacks])
    seconds = time.perf_counter() - begin
    report.summarize(run, config, model.update, start, seconds, saves.saved)
    if config.sigma == "auto" and guard and start < model.update:
        report.summarize_sigma(guard.shown["sigma"])


def _pictures(session: Session, run: Run) -> Pictures:
    config = session.config
    if config.data.points:
        toy = toys.get(config.dataset, config.toy)
        return ToyFigures(run.path, toy, every=config.sample_every)
    every = config.sample_every
    return Pictures(run.path, every=every, data=session.observed)


def _evaluation(session: Session, run: Run) -> list[Evaluate]:
    """Returns the callbacks that evaluate: one, or none."""
    config = session.config
    if not config.evaluate_every:
        return []
    real = image_sets.from_array(session.observed, config.dataset, "observed")
    network = evaluate.network_for(real.shape, config.inception, config)
    return [
        Evaluate(
            run.path,
            real,
            every=config.evaluate_every,
            n=config.evaluate_n,
            network=network,
            stop=lambda: session.stop.caught is not None,
        )
    ]

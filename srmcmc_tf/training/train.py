"""Training from a config: the one entry behind `bin/train`.

What is restored when a run goes on, and from where:
1. the settings, from RUN/config.json (only `updates` may grow);
2. the images, read again; their digest must be that of config.json;
3. weights, their average, optimizer, update number and what the guard
   remembers, from the newest checkpoint (by the chief, where there are several
   workers, and by the others from it);
4. the seed's branch and the least sigma, from interventions.jsonl;
5. the order of the data and all noise, from (seed, update): nothing is stored;
6. metrics.jsonl and evaluations.json, cut off after the update of that
   checkpoint.
A run that the guard takes back goes on in just this way.
"""

import contextlib
import dataclasses
import time

import tensorflow as tf

from srmcmc_tf.data import examples, pipeline, toys
from srmcmc_tf.distribution import cluster, strategies
from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.evaluation import evaluate
from srmcmc_tf.files import digests
from srmcmc_tf.models import ema, factory, precision, schedules
from srmcmc_tf.runs import checkpoints
from srmcmc_tf.runs import run as runs
from srmcmc_tf.training import callbacks, evaluation, report
from srmcmc_tf.training.guard import rollback, rule


def train(config, workdir):
    """Trains in a run directory, from where it stands to `config.updates`.

    Args:
        config: a `Config`.
        workdir: the run directory, made where it is missing. Of several
            workers only the chief uses it.

    Returns:
        The signal that ended the run early, or None.
    """
    tf.config.experimental.enable_op_determinism()
    team = cluster.from_environment(config.strategy)
    chief = team is None or team.is_chief
    claim = runs.claim(workdir) if chief else contextlib.nullcontext()
    with claim as workdir, strategies.report_lost_workers(team):
        precision.check(config.precision)
        strategy = strategies.create(config.strategy, config.batch_size)
        images = examples.load(config)
        digest = digests.digest(images.observed)
        if chief:
            print(f"{config.dataset}: {report.examples(images)}")
            runs.save(workdir, config, digest)
        strategies.require_same(strategy, _same(config, digest))
        stop = callbacks.StopOnSignal()
        while not stop.received:
            try:
                _go_on(config, workdir, images.observed, strategy, stop)
                break
            except rule.Trouble:  # it was taken back
                stop.agree(strategy)
            except OSError as error:  # only the chief writes
                raise _not_written(workdir, error) from None
        return stop.received


def dataset(config, images, start=0, part=(0, 1), way=None):
    """The batches of a run from an update on, or a part of each.

    Args:
        config: a `Config`.
        images: what is learned from, `Images.observed`.
        start: the update.
        part: (i, n) for the i-th n-th of every batch.
        way: a `rollback.Way`; as the config says by default.
    """
    way = way or rollback.way(config)
    return pipeline.batches(
        images,
        batch_size=config.batch_size,
        sigma=way.sigma,
        seed=way.seed,
        start=start,
        part=part,
    )


def _same(config, digest):
    """What must be the same on all workers."""
    values = dataclasses.asdict(config) | dict.fromkeys(runs.FREE)
    return f"{values} {digest}"


def _go_on(config, workdir, images, strategy, stop):
    """From the newest checkpoint to the end, or until the guard goes back."""
    chief = workdir is not None
    with strategy.scope():
        model = factory.build(config)
        past = _recover(config, workdir, model) if chief else None
        strategies.share_state(model)
    past = strategies.broadcast_from_chief(strategy, past)
    way = rollback.way(config, **past)
    model.set_seed(way.seed)
    first = [ema.UpdateAverage()] if config.ema else []
    first.append(way.guard or callbacks.StopOnNonFinite())
    if chief:
        _fit(model, config, workdir, images, way, first, stop)
    else:
        _run(model, config, images, way, [*first, stop])
        update = f"update {model.update:,}"
        print(f"{update} of {config.updates:,}; the chief has written all")


def _recover(config, workdir, model):
    """Restores the newest checkpoint; what `rollback.way` wants to know."""
    print(f"{config.model}: {report.weights(model)}")
    newest = checkpoints.recover(workdir / "checkpoints", model)
    start = model.update
    if newest:
        checkpoints.discard_after(workdir / "checkpoints", start)
        print(f"going on from update {start:,}, {newest}")
    else:
        report.describe(workdir, config)
    notes = checkpoints.notes(newest) if newest else None
    return {"past": rollback.go_on(workdir, start), "notes": notes}


def _fit(model, config, workdir, images, way, first, stop):
    """What the chief does: `_run`, and all that is written."""
    start = model.update
    saves = callbacks.Checkpoints(workdir, every=config.checkpoint_every)
    log = callbacks.Log(workdir, every=config.log_every)
    if way.guard:
        saves.save = way.guard.save
        log.also = lambda: way.guard.shown
    pictures = _pictures(config, workdir, images)
    progress = callbacks.Progress(config.updates, saves)
    evaluation = _evaluation(model, config, workdir, images, stop)
    calls = [*first, log, pictures, saves, *evaluation, stop, progress]
    begin = time.perf_counter()
    try:
        if start >= config.updates:
            for callback in evaluation:
                callback.go_on()
        _run(model, config, images, way, calls)
    except rule.Trouble as trouble:
        model.stop_training = True
        for callback in (log, pictures, stop, progress):  # but nothing is saved
            callback.on_train_end()
        rollback.intervene(workdir, config, trouble, way.sigma)
        raise
    except NonFiniteError as error:
        newest = checkpoints.latest(workdir / "checkpoints")
        larger = "a larger --sigma or --K, or " if config.model == "ebm" else ""
        raise NonFiniteError(
            f"{error}: the training diverges. The last good checkpoint is "
            f"{newest or 'none'}; try {larger}a smaller --learning_rate, in "
            "another --workdir"
        ) from None
    update = model.update
    seconds = time.perf_counter() - begin
    report.report(workdir, config, update, update - start, seconds, saves.saved)
    if config.sigma == "auto" and start < update:
        begun = schedules.AutoSigma.START
        print(f"  sigma       {way.guard.shown['sigma']:.4f}, from {begun} on")


def _run(model, config, images, way, calls):
    """The updates from where the model stands; all workers leave together."""
    start = model.update
    if start >= config.updates:
        return
    strategy = model.distribute_strategy
    batches = strategies.dataset(
        strategy,
        lambda part: dataset(config, images, start, part, way),
        config.batch_size,
    )
    try:
        model.fit(
            batches,
            steps_per_epoch=config.updates - start,
            shuffle=False,
            verbose=0,
            callbacks=calls,
        )
    except tf.errors.ResourceExhaustedError:
        raise UserError(
            "out of memory; take a smaller --batch_size or --n_f, in another "
            "--workdir"
        ) from None
    strategies.wait(strategy)


def _not_written(workdir, error):
    newest = checkpoints.latest(workdir / "checkpoints")
    return UserError(
        f"cannot write to {error.filename or workdir} "
        f"({error.strerror or error}); the newest checkpoint is "
        f"{newest or 'none'}. {checkpoints.WHAT_TO_DO}"
    )


def _evaluation(model, config, workdir, images, stop):
    """The callbacks that evaluate: one, or none."""
    if not config.evaluate_every:
        return []
    measure, by = evaluate.while_training(config, images)
    callback = evaluation.Evaluate(
        workdir,
        measure,
        by,
        every=config.evaluate_every,
        stop=lambda: stop.caught is not None,
    )
    callback.set_model(model)
    return [callback]


def _pictures(config, workdir, images):
    every = config.sample_every
    if config.toy:
        toy = toys.get(config.dataset, config.toy)
        return callbacks.Densities(workdir, toy, every=every)
    return callbacks.Pictures(workdir, every=every, data=images)

"""Training from a config: the one entry behind `bin/train`.

What is restored when a run goes on, and from where:
1. the settings, from RUN/config.json (only `updates` may grow);
2. the images, read again; their digest must be that of config.json;
3. weights, their average, optimizer, update number and what the guard
   remembers, from the newest checkpoint;
4. the seed's branch and the least sigma, from interventions.jsonl;
5. the order of the data and all noise, from (seed, update): nothing is stored;
6. metrics.jsonl and evaluations.json, cut off after the update of that
   checkpoint.
A run that the guard takes back goes on in just this way.
"""

import dataclasses
import math
import os
import sys
import time

import keras
import tensorflow as tf
from tensorboard.plugins.hparams import api as hparams

from srmcmc_tf import (
    baselines,
    callbacks,
    checkpoints,
    data,
    ema,
    energy,
    evaluate,
    evaluating,
    guard,
    mending,
    precision,
    runs,
    schedule,
    toys,
)
from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.model import ShortRunEBM, adam


def train(config, workdir):
    """Trains in a run directory, from where it stands to `config.updates`.

    Args:
        config: a `Config`.
        workdir: the run directory, new or of the same config.

    Returns:
        The signal that ended the run early, or None.
    """
    tf.config.experimental.enable_op_determinism()
    with runs.claim(workdir) as workdir:
        precision.check(config.precision)
        images = data.load(config)
        print(
            f"{config.dataset}: {len(images.observed):,} observed and "
            f"{len(images.left_out):,} left-out {_kind(images.observed)}"
        )
        runs.save(workdir, config, data.digest(images.observed))
        stop = callbacks.StopOnSignal()
        while not stop.received:
            try:
                _go_on(config, workdir, images.observed, stop)
                break
            except guard.Trouble:
                pass  # it was taken back
        return stop.received


def build(config):
    """The compiled model of a config, with its initial weights."""
    model = _compiled(config)
    model.average = ema.Average(model, config.ema) if config.ema else None
    return model


def _compiled(config):
    rate = schedule.Anneal(
        config.learning_rate,
        after=config.anneal_after,
        half_life=config.learning_rate_half_life,
    )
    if config.model != "ebm":
        model = baselines.build(config)
        model.compile(model.adam(rate))
        return model
    model = ShortRunEBM(
        _network(config),
        K=config.K,
        step_size=config.step_size,
        noise=config.noise,
        seed=config.seed,
    )
    jit_compile = {"auto": "auto", "true": True, "false": False}
    model.compile(adam(rate), jit_compile=jit_compile[config.jit_compile])
    return model


def _network(config):
    same = dict(n_f=config.n_f, seed=config.seed, dtype=config.precision)
    if config.toy:
        toy = toys.get(config.dataset, config.toy)
        return energy.mlp(toy.centers.shape[1], **same)
    return energy.convnet(config.image_size, config.channels, **same)


def dataset(config, images, start=0, way=None):
    """The batches of a run from update `start` on, on a `mending.Way`."""
    way = way or mending.way(config)
    return data.batches(
        images,
        batch_size=config.batch_size,
        sigma=way.sigma,
        seed=way.seed,
        start=start,
    )


def _go_on(config, workdir, images, stop):
    """From the newest checkpoint to the end, or until the guard goes back."""
    model = build(config)
    print(f"{config.model}: {_weights(model)}")
    newest = checkpoints.recover(workdir / "checkpoints", model)
    start = int(model.optimizer.iterations)
    if newest:
        checkpoints.discard_after(workdir / "checkpoints", start)
        print(f"going on from update {start:,}, {newest}")
    else:
        _describe(workdir, config)
    notes = (newest and checkpoints.notes(newest)) or {}
    way = mending.way(config, mending.past(workdir, start), notes)
    model.seed = way.seed
    _fit(model, config, workdir, images, way, stop)


def _fit(model, config, workdir, images, way, stop):
    start = int(model.optimizer.iterations)
    saves = callbacks.Checkpoints(workdir, every=config.checkpoint_every)
    log = callbacks.Log(workdir, every=config.log_every)
    if way.guard:
        saves.save = way.guard.save
        log.also = lambda: way.guard.shown
    pictures = _pictures(config, workdir, images)
    progress = callbacks.Progress(config.updates, saves)
    average = [ema.UpdateAverage()] if config.ema else []
    first = [*average, way.guard or callbacks.StopOnNonFinite()]
    evaluation = _evaluation(model, config, workdir, images, stop)
    begin = time.perf_counter()
    try:
        if start < config.updates:
            model.fit(
                dataset(config, images, start, way),
                steps_per_epoch=config.updates - start,
                shuffle=False,
                verbose=0,
                callbacks=[
                    *first,
                    log,
                    pictures,
                    saves,
                    *evaluation,
                    stop,
                    progress,
                ],
            )
        else:
            for callback in evaluation:
                callback.go_on()
    except guard.Trouble as trouble:
        model.stop_training = True
        for callback in (log, pictures, stop, progress):  # but nothing is saved
            callback.on_train_end()
        mending.intervene(workdir, config, trouble, way.sigma)
        raise
    except NonFiniteError as error:
        newest = checkpoints.latest(workdir / "checkpoints")
        larger = "a larger --sigma or --K, or " if config.model == "ebm" else ""
        raise NonFiniteError(
            f"{error}: the training diverged. The last good checkpoint is "
            f"{newest or 'none'}; try {larger}a smaller --learning_rate, in "
            "another --workdir"
        ) from None
    except tf.errors.ResourceExhaustedError:
        raise UserError(
            "out of memory; take a smaller --batch_size or --n_f, in another "
            "--workdir"
        ) from None
    update = int(model.optimizer.iterations)
    seconds = time.perf_counter() - begin
    _report(workdir, config, update, update - start, seconds, saves.saved)
    if config.sigma == "auto" and start < update:
        print(f"  sigma       {way.guard.shown['sigma']:.4f}, found by itself")


def _evaluation(model, config, workdir, images, stop):
    """The callbacks that evaluate: one, or none."""
    if not config.evaluate_every:
        return []
    measure, by = evaluate.while_training(config, images)
    callback = evaluating.Evaluate(
        workdir,
        measure,
        by,
        every=config.evaluate_every,
        stop=lambda: stop.received is not None,
    )
    callback.set_model(model)
    return [callback]


def _pictures(config, workdir, images):
    every = config.sample_every
    if config.toy:
        toy = toys.get(config.dataset, config.toy)
        return callbacks.Densities(workdir, toy, every=every)
    return callbacks.Pictures(workdir, every=every, data=images)


def _describe(workdir, config):
    """The config as text and as hyperparameters, for TensorBoard."""
    values = dataclasses.asdict(config)
    table = "\n".join(f"| {k} | {v} |" for k, v in values.items())
    writer = tf.summary.create_file_writer(str(workdir / "tensorboard"))
    with writer.as_default(step=0):
        tf.summary.text("config", f"| setting | value |\n|---|---|\n{table}")
        hparams.hparams(values, trial_id=workdir.name)
    writer.close()


def _kind(examples):
    """What the examples are, and their size, in words."""
    shape = "x".join(map(str, examples.shape[1:]))
    if examples.ndim == 2:
        return f"points of {shape} coordinate{'s' * (shape != '1')}"
    return f"images of {shape}"


def _weights(model):
    """How many weights are learned, in all and in each network."""
    networks = {
        name: sum(math.prod(w.shape) for w in item.trainable_variables)
        for name, item in model.checkpoint_items().items()
        if isinstance(item, keras.Model)
    }
    each = ", ".join(f"{name} {n:,}" for name, n in networks.items())
    return f"{sum(networks.values()):,} weights ({each})"


def _number(path):
    return int(path.stem)


def _report(workdir, config, update, done, seconds, saved):
    cost = ""
    if saved:
        last = max(saved, key=lambda save: save.seconds)
        cost = f" ({last.megabytes:.1f} MB, {last.seconds:.2f} s at the most)"
    newest = checkpoints.latest(workdir / "checkpoints")
    pictures = sorted((workdir / "samples").glob("*.png"), key=_number)
    logs = workdir / "tensorboard"
    # Of this environment, which need not be on the PATH.
    tensorboard = os.path.relpath(f"{sys.prefix}/bin/tensorboard")
    if done:
        rate = f"{done / seconds:.2f} a second"
        print(f"{done:,} updates in {seconds:,.0f} s, {rate}")
    print(f"update {update:,} of {config.updates:,}")
    print(f"  pictures    {pictures[-1] if pictures else workdir / 'samples'}")
    print(f"  checkpoint  {newest}{cost}")
    best = checkpoints.latest(workdir / "best")
    if best:
        print(f"  best        {best}")
    print(f"  logs        {tensorboard} --logdir={logs}")
    if update < config.updates:
        print(f"  go on with  bin/train --workdir={os.path.relpath(workdir)}")

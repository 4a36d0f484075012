"""What the tests of distribution/ run with two logical CPUs.

Devices are configured before TensorFlow starts, so `main` is run by processes
of their own. It computes the same on one device and on two, single results or
whole runs (not both: TensorFlow confuses the sums of several such strategies),
and writes them to a folder. The arguments: results|runs FOLDER
"""

import dataclasses
import functools
import pathlib
import shutil
import sys

import keras
import numpy as np
from helpers import TINY, divergence_at, random_features, random_images

import srmcmc_tf
from srmcmc_tf.cli import export
from srmcmc_tf.config import presets
from srmcmc_tf.data import pipeline, pixels
from srmcmc_tf.distribution import replicas, strategies
from srmcmc_tf.models import energies, layer_state
from srmcmc_tf.runs.checkpoints import Checkpoints
from srmcmc_tf.runs.run import Run
from srmcmc_tf.sampling import rng
from srmcmc_tf.sampling.starts import Start
from srmcmc_tf.scores.fid import FID
from srmcmc_tf.scores.inception_score import InceptionScore
from srmcmc_tf.scores.kid import KID
from srmcmc_tf.serving import signatures
from srmcmc_tf.training import train

import tensorflow as tf  # isort: skip


RUN = dict(updates=24, checkpoint_every=3, sample_every=12, ema=0.9)


def main():
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    tf.config.experimental.enable_op_determinism()
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * 2
    )
    {"results": all_results, "runs": runs}[what](folder)


def all_results(folder):
    one, two = strategies.local("one"), strategies.local()
    chains = functools.partial(bank, folder=folder / "checkpoints")
    same = results, pyramid, uneven, chains, conditional, scores
    for name, strategy, functions in (
        ("one", one, same),
        ("two", two, (*same, draws, layers)),
    ):
        found = {}
        for function in functions:
            found |= function(strategy)
        np.savez(folder / f"{name}.npz", **found)


def results(strategy):
    """What a model does with data, by name, as arrays."""
    with strategy.scope():
        model = srmcmc_tf.ShortRunEBM(energies.convnet(8, 1, n_f=4), K=5)
        model.compile(keras.optimizers.SGD(0.1))
    images = random_images(40)
    batches = strategies.dataset(
        strategy, lambda p: pipeline.endless(images, batch_size=8, part=p), 8
    )
    fit = dict(steps_per_epoch=1, epochs=3, shuffle=False, verbose=0)
    history = model.fit(batches, **fit).history
    found = {f"log {name}": values for name, values in history.items()}
    for i, weight in enumerate(model.weights):
        found[f"weight {i}"] = weight.numpy()
    evaluated = model.evaluate(
        pixels.to_float(images[:8]), batch_size=8, verbose=0, return_dict=True
    )
    found |= {f"evaluated {n}": value for n, value in evaluated.items()}
    found["samples"] = model.sample([5, 6, 7, 8, 9])  # not a multiple of 2
    found["one sample"] = model.sample([7])
    found["trace"] = model.trace([5, 6, 7], [0, 2, 5])
    starts = model.start([1, 2]), model.start([3, 4])
    found["interpolated"] = model.interpolate(*starts, [0.0, 0.5, 1.0])
    x = pixels.to_float(images[:3])
    found["reconstructed"] = model.reconstruct(x, iterations=3).x
    return found


def pyramid(strategy):
    """The same of a model with two stages, which add the noise themselves."""
    with strategy.scope():
        stages = [
            srmcmc_tf.Stage(energies.pooled(size, 1, n_f=2), K=2, sigma=0.1)
            for size in (4, 8)
        ]
        model = srmcmc_tf.ShortRunEBM(stages)
        model.compile(keras.optimizers.SGD(0.1))
    x = pixels.to_float(random_images(8))
    fit = dict(batch_size=8, epochs=2, shuffle=False, verbose=0)
    history = model.fit(x, **fit).history
    found = {f"pyramid log {name}": values for name, values in history.items()}
    found["pyramid samples"] = model.sample([5, 6, 7])
    found["pyramid reconstructed"] = model.reconstruct(x[:3], iterations=2).x
    return found


def uneven(strategy):
    """A network with losses of its own on 13 images: of 4, 4, 4, and 1."""
    x = pixels.to_float(random_images(13))
    with strategy.scope():
        inputs = keras.Input((8, 8, 1))
        h = keras.layers.Flatten()(inputs)
        h = keras.layers.Dense(
            4, "softplus", kernel_initializer="ones", kernel_regularizer="l2"
        )(h)
        h = keras.layers.ActivityRegularization(l2=0.1)(h)
        f = keras.layers.Dense(1, kernel_initializer="ones")(h)
        energy = keras.Model(inputs, f)
        model = srmcmc_tf.ShortRunEBM(energy, K=2, sigma=0.1)
        model.compile(keras.optimizers.SGD(0.001))
    options = dict(batch_size=4, verbose=0)
    history = model.fit(x, shuffle=False, epochs=2, **options).history
    found = {f"uneven log {name}": values for name, values in history.items()}
    logs = model.evaluate(x, return_dict=True, **options)
    found |= {f"uneven evaluated {n}": value for n, value in logs.items()}
    for i, weight in enumerate(model.weights):
        found[f"uneven weight {i}"] = weight.numpy()
    found["uneven predicted"] = model.predict(x, **options)
    return found


def bank(strategy, folder):
    """Persistent chains of two epochs, of two devices also resumed ones."""

    def chains():
        start = Start(kind="persistent", bank=20, reinitialize=0.3)
        with strategy.scope():
            energy = energies.convnet(8, 1, n_f=4)
            model = srmcmc_tf.ShortRunEBM(
                energy, K=3, start=start, stop="level"
            )
            model.compile(keras.optimizers.SGD(0.1))
        return model

    def fit(model):
        x = pixels.to_float(random_images(13))  # batches of 8 and of 5
        model.fit(x, batch_size=8, shuffle=False, verbose=0)

    models = {"whole": chains()}
    fit(models["whole"])
    if strategy.num_replicas_in_sync > 1:
        checkpoints = Checkpoints(folder)
        checkpoints.save(models["whole"])
        models["resumed"] = chains()
        checkpoints.restore_newest(models["resumed"])
    found = {}
    for name, model in models.items():
        fit(model)
        for i, weight in enumerate(model.weights):
            found[f"bank {name} weight {i}"] = weight.numpy()
        for kept, variable in model.starting.kept().items():
            copies = strategy.experimental_local_results(variable)
            found[f"bank {name} {kept}"] = np.stack([c.numpy() for c in copies])
    return found


def conditional(strategy):
    """A conditional model, whose labels are divided as its images are."""
    with strategy.scope():
        energy = srmcmc_tf.energies.conditional(
            energies.convnet(8, 1, n_f=4), 3
        )
        model = srmcmc_tf.ShortRunEBM(energy, K=3)
        model.compile(keras.optimizers.SGD(0.1))
    x, y = pixels.to_float(random_images(5)), np.arange(5) % 3
    fit = dict(batch_size=4, epochs=2, shuffle=False, verbose=0)
    history = model.fit(x, y, **fit).history
    found = {f"conditional {name}": v for name, v in history.items()}
    for i, weight in enumerate(model.weights):
        found[f"conditional weight {i}"] = weight.numpy()
    found["conditional samples"] = model.sample([5, 6, 7], labels=[2, 0, 2])
    starts = model.start([1, 2]), model.start([3, 4])
    found["conditional path"] = model.interpolate(*starts, [0.5], labels=[1, 0])
    options = dict(labels=[2, 1, 0], iterations=1)
    found["conditional inverse"] = model.reconstruct(x[:3], **options).x
    return found


def scores(strategy):
    """Metrics of features that are shared out in batches."""
    real = random_features(400, 1)
    fake = random_features(600, 2, scale=1.3, shift=0.4)
    reference = FID(12)
    reference.update_state(real)
    with strategy.scope():
        metrics = [
            FID(12, reference.moments()),
            KID(12, real, capacity=500, blocks=5),
            InceptionScore(12, splits=4),
        ]

    @tf.function
    def update(x, index):
        for metric in metrics:
            metric.update_state(x, index)

    index = tf.range(len(fake), dtype=tf.int64)
    batches = tf.data.Dataset.from_tensor_slices((fake, index)).batch(100)
    for batch in strategy.experimental_distribute_dataset(batches):
        strategy.run(update, batch)
    found = [np.array(tf.nest.flatten(metric.result())) for metric in metrics]
    return {f"score {i}": values for i, values in enumerate(found)}


def layers(strategy):
    """What each replica's copy of the layers keeps after two updates."""
    with strategy.scope():
        dense = keras.layers.Dense(4)
        stack = [
            keras.layers.Flatten(),
            keras.layers.SpectralNormalization(dense),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(0.5),
            keras.layers.Dense(1),
        ]
        energy = keras.Sequential([keras.Input((8, 8, 1)), *stack])
        model = srmcmc_tf.ShortRunEBM(energy, K=2)
        model.compile(keras.optimizers.SGD(0.001))
    x = pixels.to_float(random_images(8))
    model.fit(x, batch_size=4, shuffle=False, verbose=0)
    found = {}
    for i, weight in enumerate(energy.weights):
        copies = strategy.experimental_local_results(weight.value)
        found[f"copies {i}"] = np.stack([copy.numpy() for copy in copies])
    masks = strategy.run(tf.function(lambda: masked(stack[3])))
    masks = strategy.experimental_local_results(masks)
    found["masks"] = np.stack([mask.numpy() for mask in masks])
    return found


def masked(dropout):
    layer_state.set_seeds(dropout, rng.stream(0).fold(rng.LAYERS, 0))
    return dropout(tf.ones([64]), training=True)


def draws(strategy):
    """The starts of a batch of 6 that each replica draws."""
    parts = strategy.run(
        lambda: (
            replicas.own_rows(tf.zeros([3, 1]))[1]
            .stream(rng.stream(0))
            .uniform([3, 8, 8, 1])
        )
    )
    return {"draws": tf.concat(strategy.experimental_local_results(parts), 0)}


def runs(folder):
    """Whole runs on one device and on two, which go back; one that resumes."""
    tiny = dataclasses.replace(presets.load("digits"), **{**TINY, **RUN})
    with divergence_at(16):
        for strategy in ("one", "mirrored"):
            chosen = dataclasses.replace(tiny, strategy=strategy)
            train.train(chosen, folder / strategy)
    shutil.copytree(folder / "mirrored", folder / "resumed")
    Run(folder / "resumed").checkpoints.discard_after(RUN["updates"] - 1)
    train.train(chosen, folder / "resumed")
    model = Run(folder / "mirrored").load_model()
    assert model.distribute_strategy.num_replicas_in_sync == 2
    names = ("sample", "energy")  # two of them are enough to see the devices
    signatures.SIGNATURES = {n: signatures.SIGNATURES[n] for n in names}
    export.export([f"--workdir={folder / 'mirrored'}"])

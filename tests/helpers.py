"""What the tests share: tiny settings, images, real runs."""

import contextlib
import dataclasses
import importlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import forked
import keras
import numpy as np
import pytest
import tensorflow as tf
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator,  # noqa: E501
)

from srmcmc_tf.config import presets
from srmcmc_tf.data import pixels
from srmcmc_tf.models import divergence as rule
from srmcmc_tf.models import factory
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training.guard import rollback

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("SRMCMC_SHARED", ROOT.parent / "shared"))

TINY = dict(
    n_f=4,
    K=3,
    batch_size=8,
    updates=12,
    sample_every=5,
    checkpoint_every=5,
    anneal_after=4,
    learning_rate_half_life=4,
    sigma_half_life=4,
)


def random_images(n, size=8, channels=1, seed=0):
    """uint8 noise [n, size, size, channels]."""
    generator = np.random.default_rng(seed)
    return generator.integers(0, 256, (n, size, size, channels), np.uint8)


def random_features(n, seed, scale=1.0, shift=0.0):
    """Correlated Gaussian features, float32 [n, 12]."""
    mixing = np.random.default_rng(7).normal(size=(12, 12))
    x = np.random.default_rng(seed).normal(size=(n, 12)) @ mixing
    return (scale * x + shift).astype(np.float32)


def two_inputs():
    """A user's own f(x, y): an embedding of the label, added to features."""
    x, y = keras.Input((8, 8, 1)), keras.Input((1,), dtype="int32")
    label = keras.layers.Flatten()(keras.layers.Embedding(3, 8)(y))
    h = keras.layers.Dense(8, activation="silu")(keras.layers.Flatten()(x))
    f = keras.layers.Dense(1)(keras.layers.Add()([h, label]))
    return keras.Model([x, y], f)


def write_images(folder, images, suffix="png"):
    folder.mkdir(parents=True, exist_ok=True)
    for i, image in enumerate(images):
        Image.fromarray(image.squeeze()).save(folder / f"{i:04d}.{suffix}")


def flags(**settings):
    """Command-line flags of the tiny run, with changes."""
    settings = {**TINY, **settings}
    return [f"--{name}={value}" for name, value in settings.items()]


def untrained_run(directory, dataset="digits", model="ebm", **settings):
    """A run of the tiny settings that claims to have made all its updates."""
    preset = presets.load(dataset, model)
    config = dataclasses.replace(
        preset, **{**TINY, **preset.kind.changes, **settings}
    )
    run = Run(directory)
    run.path.mkdir(parents=True)
    run.save_config(config, "0123456789abcdef")
    model = factory.build(config)
    model.optimizer.iterations.assign(config.updates)
    run.checkpoints.save(model)
    return run


def start(*args):
    """Starts the command `train` in a process, without waiting for it."""
    return forked.Command("srmcmc_tf.cli.train", *args)


def finish(process, timeout=600):
    """Waits for a process; its exit code, stdout and stderr."""
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def run(*args, timeout=600):
    """Runs `bin/train` as a user would; exit code, stdout, stderr."""
    done = subprocess.run(
        [sys.executable, ROOT / "bin" / "train", *args],
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    return done.returncode, done.stdout, done.stderr


def call(command, *args):
    """A command of bin/ in this process: exit code, stdout, stderr."""
    main = importlib.import_module(f"srmcmc_tf.cli.{command}").main
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        patch.setattr(sys, "argv", [command, *map(str, args)])
        main()
    return end.value.code, out.getvalue(), err.getvalue()


def explains_a_missing_run(command, tmp_path, has_default=False):
    """Asserts that a command without a run fails with one line."""
    none = [] if has_default else [[]]
    for args in (*none, [f"--workdir={tmp_path}"]):
        code, _, err = call(command, *args)
        assert code == 1 and len(err.splitlines()) == 1
        assert "--workdir" in err or "is not a run directory" in err
    code, out, _ = call(command, "--help")
    assert code == 0 and "--workdir=RUN" in out
    assert "--model_file=MODEL.keras" in out


def small_graph(softmax=True, batch_norm=True):
    """A graph with the names and the old ops of the 2015 Inception.

    Returns:
        The serialised graph, and a function from uint8 images to what it
        should see: features [n, 5] and logits [n, 4].
    """
    generator = np.random.default_rng(0)
    kernel = generator.normal(size=(3, 3, 3, 5)).astype(np.float32)
    mean, variance, beta, gamma = generator.uniform(0.5, 2, (4, 5))
    weights = generator.normal(size=(5, 4)).astype(np.float32)
    graph = tf.Graph()
    with graph.as_default():
        contents = tf.compat.v1.placeholder(
            tf.string, [], name="DecodeJpeg/contents"
        )
        x = tf.io.decode_jpeg(contents, channels=3, name="DecodeJpeg")
        x = tf.expand_dims(tf.cast(x, tf.float32), 0, name="ExpandDims")
        x = tf.raw_ops.ResizeBilinear(images=x, size=[9, 9])
        x = tf.raw_ops.Mul(x=x - 128.0, y=1 / 128)
        kernel_const = tf.constant(kernel, name="conv/conv2d_params")
        x = tf.nn.conv2d(x, kernel_const, 2, "VALID", name="conv/Conv2D")
        for name, value in (
            ("moving_mean", mean),
            ("moving_variance", variance),
            ("beta", beta),
            ("gamma", gamma),
        ):
            tf.constant(value, tf.float32, name=f"conv/batchnorm/{name}")
        x = tf.nn.relu(x, name="conv")
        tf.nn.avg_pool2d(x, 4, 1, "VALID", name="pool_3")
        if softmax:
            tf.constant(weights, name="softmax/weights")
    graph = graph.as_graph_def()
    graph.versions.producer = 8
    if batch_norm:
        # An op that TensorFlow can no longer write, only read.
        node = graph.node.add(
            name="conv/batchnorm", op="BatchNormWithGlobalNormalization"
        )
        node.input.append("conv/Conv2D")
        for name in ("moving_mean", "moving_variance", "beta", "gamma"):
            node.input.append(f"conv/batchnorm/{name}")
        node.attr["T"].type = tf.float32.as_datatype_enum
        node.attr["variance_epsilon"].f = 1e-3
        node.attr["scale_after_normalization"].b = True
        (relu,) = [node for node in graph.node if node.name == "conv"]
        relu.input[0] = "conv/batchnorm"

    def see(images):
        x = tf.raw_ops.ResizeBilinear(
            images=tf.cast(images, tf.float32), size=[9, 9]
        )
        x = tf.nn.conv2d((x - 128) / 128, kernel, 2, "VALID").numpy()
        x = gamma * (x - mean) / np.sqrt(variance + 1e-3) + beta
        features = np.maximum(x, 0).mean(axis=(1, 2))
        return features, features @ weights

    return graph.SerializeToString(), see


def graph_archive(content, name="classify_image_graph_def.pb"):
    """The bytes of a tgz with one file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as files:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        files.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@contextlib.contextmanager
def divergence_at(*updates):
    """Makes the guard's rule fire at updates of a run, one per intervention."""
    honest, branch, done = rule.observe, rollback.branch, [0]

    def counted(config, past=(), sigma_state=None):
        done[0] = len(past)
        return branch(config, past, sigma_state)

    def observe(state, logs):
        state = honest(state, logs)
        fires = state.seen in updates[done[0] : done[0] + 1]
        restless = rule.PATIENCE if fires else 0
        return dataclasses.replace(state, restless=restless)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rollback, "GOOD_AFTER", 6)
        patch.setattr(rollback, "branch", counted)
        patch.setattr(rule, "observe", observe)
        yield


def state(workdir):
    """Weights, optimizer and update number of the newest checkpoint."""
    newest = sorted((pathlib.Path(workdir) / "checkpoints").glob("[0-9]*"))[-1]
    reader = tf.train.load_checkpoint(str(newest / "state"))
    names = reader.get_variable_to_shape_map()
    return {n: reader.get_tensor(n) for n in names if n[0] != "_"}


def rows(workdir):
    lines = open(pathlib.Path(workdir) / "metrics.jsonl")
    rows = [json.loads(line) for line in lines]
    return [
        {k: v for k, v in r.items() if k != "updates_per_second"} for r in rows
    ]


def assert_same_run(a, b):
    """Same weights, optimizer, logged values and pictures, bit for bit."""
    first, second = state(a), state(b)
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], name)
    assert rows(a) == rows(b)
    names = sorted(p.name for p in (a / "samples").iterdir())
    assert names == sorted(p.name for p in (b / "samples").iterdir())
    for name in names:
        pictures = [(d / "samples" / name).read_bytes() for d in (a, b)]
        assert pictures[0] == pictures[1]


def wait_for(workdir, update, process):
    """Waits until a run has logged an update."""
    path = workdir / "metrics.jsonl"
    deadline = time.time() + 300
    while time.time() < deadline and process.poll() is None:
        if path.exists() and len(path.read_text().splitlines()) >= update:
            return
        time.sleep(0.01)
    raise AssertionError(f"never came to update {update}: {finish(process)}")


def events(workdir):
    return EventAccumulator(
        str(workdir / "tensorboard"), size_guidance={"tensors": 0}
    ).Reload()


def fit_updates(model, callbacks, n=4, x=None):
    """Fits a tiny model on random images, `n` updates of 8."""
    x = pixels.to_float(random_images(8)) if x is None else x
    options = dict(batch_size=8, shuffle=False, verbose=0)
    model.fit(x, epochs=n, callbacks=callbacks, **options)

"""What the tests share: tiny configs, private caches, real runs."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import srmcmc_tf  # before TensorFlow, as its docstring says

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from srmcmc_tf import checkpoints, config, runs, train

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


@pytest.fixture(scope="session", autouse=True)
def deterministic():
    tf.random.set_seed(0)  # for the shuffling of Keras
    tf.config.experimental.enable_op_determinism()


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """A cache of its own, so that no test reads what another left."""
    path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(path))
    return path


@pytest.fixture
def tiny_model():
    """A compiled model of 8x8x1 images."""
    energy = srmcmc_tf.energy.convnet(8, channels=1, n_f=4)
    model = srmcmc_tf.ShortRunEBM(energy, K=3)
    model.compile()
    return model


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """The run directory of a small model, exported as version 1; the model."""
    from srmcmc_tf.cli import export

    workdir = tmp_path_factory.mktemp("run")
    settings = dataclasses.replace(config.load("digits"), **{**TINY, "K": 5})
    runs.save(workdir, settings, "0123456789abcdef")
    model = train.build(settings)
    for variable in model.energy.variables:
        variable.assign(2.0 * variable)  # so that chains move
    model.optimizer.build(model.trainable_variables)
    model.optimizer.iterations.assign(settings.updates)
    checkpoints.save(workdir / "checkpoints", model)
    fid = {
        "value": 12.5,
        "n": 1000,
        "reference": {"name": "digits", "n": 1597},
    }
    (workdir / "generated").mkdir()
    (workdir / "generated" / "evaluation.json").write_text(
        json.dumps({"identity": "", "records": {"fid": fid}})
    )
    assert export.export([f"--workdir={workdir}"]) == 0
    return workdir, model


def random_images(n, size=8, channels=1, seed=0):
    """uint8 noise [n, size, size, channels]."""
    generator = np.random.default_rng(seed)
    return generator.integers(0, 256, (n, size, size, channels), np.uint8)


def write_images(folder, images, suffix="png"):
    folder.mkdir(parents=True, exist_ok=True)
    for i, image in enumerate(images):
        Image.fromarray(image.squeeze()).save(folder / f"{i:04d}.{suffix}")


def flags(**settings):
    """Command-line flags of the tiny run, with changes."""
    settings = {**TINY, **settings}
    return [f"--{name}={value}" for name, value in settings.items()]


def start(*args, **kwargs):
    """Starts `bin/train` as a user would, without waiting for it."""
    return subprocess.Popen(
        [sys.executable, ROOT / "bin" / "train", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **kwargs,
    )


def finish(process, timeout=240):
    """Waits for a process; its exit code, stdout and stderr."""
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def run(*args, timeout=240, **kwargs):
    """Runs `bin/train` to its end; exit code, stdout, stderr."""
    return finish(start(*args, **kwargs), timeout)

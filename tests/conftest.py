"""Fixtures that all tests share."""

import collections
import dataclasses
import itertools
import json
import os
import shutil
import signal

import srmcmc_tf  # before TensorFlow, as its docstring says

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import hypothesis
import pytest
import tensorflow as tf
from helpers import TINY, untrained_run

from srmcmc_tf.config import presets
from srmcmc_tf.files import digests
from srmcmc_tf.models import factory
from srmcmc_tf.runs import checkpoints
from srmcmc_tf.runs.run import Run

# Few examples, the same in every run, and nothing stored.
hypothesis.settings.register_profile(
    "srmcmc",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("srmcmc")


# A shell starts background jobs with Ctrl-C ignored, and our commands respect
# that: the tests of Ctrl-C need the usual disposition.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Tests of these folders share what takes long to make: one process runs them.
TOGETHER = ("tests/docs", "tests/serving")
# What takes longest comes first, so that both processes end together.
FIRST = (
    "tests/docs",
    "tests/distribution/test_devices.py",
    "tests/serving",
    "tests/training",
    "tests/models",
    "tests/evaluation",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keeps the tests of a file, or of those folders, in one process."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            folder = os.path.dirname(file)
            return folder if folder in TOGETHER else file

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def pytest_collection_modifyitems(items):
    """Sorts the tests by `FIRST`."""

    def place(item):
        first = [item.nodeid.startswith(name) for name in FIRST]
        return first.index(True) if True in first else len(first)

    items.sort(key=place)


@pytest.fixture(scope="session", autouse=True)
def deterministic():
    tf.random.set_seed(0)  # for the shuffling of Keras
    tf.config.experimental.enable_op_determinism()


@pytest.fixture
def count(record_property):
    """Counts what the fault suite did: `count("interruptions survived", 3)`."""
    return lambda what, n=1: record_property("faults", (what, n))


def pytest_terminal_summary(terminalreporter):
    """Shows the figures of the fault suite, also those of other processes."""
    figures = collections.Counter()
    for report in itertools.chain(*terminalreporter.stats.values()):
        for name, value in getattr(report, "user_properties", ()):
            if name == "faults" and report.when == "call":
                figures[value[0]] += value[1]
    if figures:
        figures["stack traces seen"] += 0
        terminalreporter.section("faults")
        for what, n in sorted(figures.items()):
            terminalreporter.line(f"{n:8,} {what}")


@pytest.fixture(autouse=True)
def log_level(caplog):
    """Lets `caplog` see what the commands print."""
    caplog.set_level("INFO", logger="srmcmc_tf")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """A cache of its own, so that no test reads what another left."""
    path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(path))
    return path


@pytest.fixture(scope="session")
def trained_classifiers(tmp_path_factory):
    return tmp_path_factory.mktemp("classifiers")


@pytest.fixture
def classifiers(cache, trained_classifiers):
    """Puts the classifiers of earlier tests, which take seconds, in a cache."""
    shutil.copytree(trained_classifiers, cache / "srmcmc_tf")
    yield
    for file in cache.glob("srmcmc_tf/*_classifier*.npz"):
        shutil.copy(file, trained_classifiers)


@pytest.fixture
def tiny_model():
    """A compiled model of 8x8x1 images."""
    energy = srmcmc_tf.energies.convnet(8, channels=1, n_f=4)
    model = srmcmc_tf.ShortRunEBM(energy, K=3)
    model.compile()
    return model


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """A `Run` of 8x8x1 images that was never trained."""
    return untrained_run(tmp_path_factory.mktemp("runs") / "tiny")


@pytest.fixture(scope="session")
def averaged(tmp_path_factory):
    """The run directory of a small model with averaged weights; the model."""
    workdir = tmp_path_factory.mktemp("run")
    settings = dataclasses.replace(presets.load("digits"), **{**TINY, "K": 5})
    Run(workdir).save_config(settings, "0123456789abcdef")
    model = factory.build(settings)
    for variable in model.energy.variables:
        variable.assign(2.0 * variable)  # so that chains move
    model.keep_average(settings.ema)
    for variable in model.energy.variables:
        variable.assign(1.1 * variable)
    model.optimizer.build(model.trainable_variables)
    model.optimizer.iterations.assign(settings.updates)
    checkpoints.Checkpoints(workdir / "checkpoints").save(model)
    model = Run(workdir).load_model()
    fid = {
        "value": 12.5,
        "n": 1000,
        "reference": {"name": "digits", "n": 1597},
    }
    (workdir / "generated").mkdir()
    (workdir / "generated" / "evaluation.json").write_text(
        json.dumps(
            {"identity": digests.of_weights(model), "records": {"fid": fid}}
        )
    )
    return workdir, model


@pytest.fixture(scope="session")
def exported(averaged):
    """The same, exported as version 1."""
    from srmcmc_tf.cli import export

    assert export.export([f"--workdir={averaged[0]}"]) == 0
    return averaged


@pytest.fixture
def few_signatures(monkeypatch):
    """Exports two signatures only, because tracing all takes seconds."""
    from srmcmc_tf.serving import signatures

    some = {n: signatures.SIGNATURES[n] for n in ("sample", "energy")}
    monkeypatch.setattr(signatures, "SIGNATURES", some)

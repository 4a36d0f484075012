"""Fixtures of the fault suite: a run to damage, and processes to kill."""

import json
import shutil
import time

import pytest
from faults.commands import Zygote
from helpers import flags

TRAINED = dict(updates=12, sample_every=6, checkpoint_every=4, n_left_out=4)
# For each command its flags, after --workdir, and the files that it writes.
COMMANDS = {
    "sample": (["--seeds=0-150"], ["generated/samples.npz"]),
    "interpolate": (["--pairs=3"], ["generated/interpolation.npz"]),
    "reconstruct": (
        ["--n=3", "--iterations=30"],
        ["generated/reconstruction.json"],
    ),
    "evaluate": (["--n=60", "--metrics=mse"], ["generated/evaluation.json"]),
    "export": (["--format=npz"], ["weights.npz"]),
    "attractors": (["--n=20", "--steps=40"], ["generated/attractors.npz"]),
}


@pytest.fixture(scope="session")
def zygote():
    zygote = Zygote()
    yield zygote
    zygote.close()


@pytest.fixture(scope="session")
def trained(zygote, tmp_path_factory):
    """The directory of a whole run, and the seconds that it took."""
    path = tmp_path_factory.mktemp("trained") / "run"
    begin = time.perf_counter()
    ended = zygote.run("train", f"--workdir={path}", *flags(**TRAINED))
    assert ended.code == 0, ended
    return path, time.perf_counter() - begin


@pytest.fixture(scope="session")
def finished(zygote, trained, tmp_path_factory):
    """A run in which each command was run once: its path, and seconds."""
    path = tmp_path_factory.mktemp("finished") / "run"
    shutil.copytree(trained[0], path)
    seconds = {}
    for command, (args, _) in COMMANDS.items():
        begin = time.perf_counter()
        ended = zygote.run(command, f"--workdir={path}", *args)
        assert ended.code == 0, ended
        seconds[command] = time.perf_counter() - begin
    line = {
        "number": 1,
        "update": 3,
        "reason": "unrest 7.0",
        "sigma": 0.03,
        "back_to": 0,
        "seed": 5,
        "sigma_least": 0.0,
    }
    (path / "interventions.jsonl").write_text(json.dumps(line) + "\n")
    records = {"4": {"fid": {"value": 2.5, "n": 60}}}
    (path / "evaluations.json").write_text(json.dumps(records))
    return path, seconds


@pytest.fixture
def judge(count):
    """Asserts that a command ended well or with one line of error."""

    def judge(ended, codes=(0, 1)):
        count("stack traces seen", int(ended.trace))
        assert not ended.trace, ended
        assert ended.code in codes, ended
        if ended.code == 1:
            assert len(ended.errors) == 1, ended
        return ended

    return judge

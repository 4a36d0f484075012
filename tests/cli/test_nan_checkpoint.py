"""A checkpoint of NaN: every command uses the one before it, or says so."""

import shutil

import numpy as np
import pytest
import tensorflow as tf
from helpers import call, untrained_run

COMMANDS = {
    "attractors": ["--n=2", "--steps=1"],
    "evaluate": ["--n=2", "--metrics=mse"],
    "export": ["--format=npz"],
    "interpolate": ["--pairs=1"],
    "reconstruct": ["--n=1", "--iterations=1"],
    "sample": ["--seeds=0-1"],
}


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A run with a good checkpoint, and a newer one of NaN."""
    run = untrained_run(tmp_path_factory.mktemp("runs") / "nan")
    (good,) = (run.path / "checkpoints").iterdir()
    model = run.load_model()
    model.energy.weights[0].assign(model.energy.weights[0] * np.nan)
    newer = good.with_name("999999")
    shutil.copytree(good, newer)
    state = tf.train.Checkpoint(**model.checkpoint_items())
    state.write(str(newer / "state"))
    return run.path, good, newer


@pytest.mark.parametrize("command", COMMANDS)
def test_the_checkpoint_before_one_of_nan_is_used(command, damaged, tmp_path):
    path, _, newer = damaged
    out = f"--out={tmp_path / 'out'}"
    code, _, err = call(command, f"--workdir={path}", out, *COMMANDS[command])
    assert code == 0, err
    assert f"warning: cannot restore {newer}" in err
    assert "is not finite" in err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_of_nan_alone_is_one_line_and_writes_nothing(
    command, damaged, tmp_path
):
    path, good, newer = damaged
    run = tmp_path / "run"
    shutil.copytree(path, run)
    shutil.rmtree(run / "checkpoints" / good.name)
    out = tmp_path / "out"
    code, _, err = call(
        command, f"--workdir={run}", f"--out={out}", *COMMANDS[command]
    )
    assert code == 1 and not out.exists()
    assert err.count(f"{command}: error: ") == 1 and "is not finite" in err

"""bin/evaluate: every value with its context, mistakes in one line."""

import json

import numpy as np
import pytest
from helpers import call, flags, random_images, small_graph

from srmcmc_tf.cli import train


@pytest.fixture(scope="module")
def workdir(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "tiny"
    train.train([f"--workdir={path}", "--n_left_out=10", *flags()])
    return path


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(small_graph()[0])
    return path


def test_a_run_is_described_and_stored(workdir):
    code, out, _ = call("evaluate", f"--workdir={workdir}", "--n=100")
    assert code == 0 and "FID" not in out and "KID" not in out
    assert "training digits_classifier8, once" in out
    assert "n=100, against digits, observed, n=1,597" in out
    assert "in 10 splits" in out and "standard error" in out
    path = workdir / "generated" / "evaluation.json"
    assert out.splitlines()[-1] == str(path)
    assert list(json.loads(path.read_text())["records"])[-1] == "mse"


def test_sets_are_described_with_warnings_and_reasons(graph, tmp_path):
    np.savez(tmp_path / "real.npz", x=random_images(40, 8, 3))
    np.savez(tmp_path / "fake.npz", x=random_images(5, 8, 3, seed=2))
    sets = [f"--{name}={tmp_path / name}.npz" for name in ("real", "fake")]
    sets += [f"--inception={graph}", f"--out={tmp_path}"]
    code, out, err = call("evaluate", *sets)
    assert code == 0 and "warning: n=5 gives a singular covariance" in out
    assert f"warning: {graph} is not the published graph" in err
    graph.write_bytes(small_graph(softmax=False)[0])
    code, out, err = call("evaluate", *sets, "--metrics=is")
    assert f"IS: none, {graph} has no softmax layer" in out
    assert code == 1 and "nothing could be measured" in err


def test_mistakes_are_reported_in_one_line(workdir, tmp_path):
    np.savez(tmp_path / "a.npz", x=random_images(4, 8, 3))
    a, run = tmp_path / "a.npz", f"--workdir={workdir}"
    for args, message in (
        ([], "needs --workdir=RUN, --preset=NAME, --model_file"),
        ([f"--real={a}"], "needs --workdir=RUN, --preset=NAME"),
        ([run, f"--real={a}", f"--fake={a}"], "needs --workdir=RUN, --p"),
        ([f"--workdir={tmp_path}"], "is not a run directory"),
        ([run, "--metrics=fdi"], "must be one of fid, kid, is, mse"),
        ([run, "--n=1"], "--n=1: must be a whole number, 2 to"),
        ([f"--real={a}", f"--fake={a}", "--metrics=mse"], "needs --workdir"),
        ([f"--real={a}", f"--fake={a}", f"--inception={a}"], "is not the Inc"),
    ):
        code, _, err = call("evaluate", *args)
        assert code == 1 and message in err and len(err.splitlines()) == 1

import pytest
from helpers import call, explains_a_missing_run

from srmcmc_tf.cli import sample
from srmcmc_tf.errors import UserError


def test_a_missing_run_is_explained(tmp_path):
    explains_a_missing_run("sample", tmp_path, has_default=True)


def test_files_are_named(tiny_run, tmp_path):
    code, out, err = call(
        "sample",
        f"--workdir={tiny_run}",
        f"--out={tmp_path}",
        "--seeds=0-2",
        "--trace",
        "--singles",
        "--nearest",
    )
    assert code == 0, err
    *lines, nearest = out.splitlines()
    assert f"training images: {tmp_path}/nearest.png, at a median" in nearest
    assert (tmp_path / "nearest.png").exists()
    assert lines == [
        f"3 samples: {tmp_path}/samples.npz, {tmp_path}/grid.png",
        "3 steps, 3 gradient evaluations per sample",
        f"steps 0, 1, 2, 3: {tmp_path}/trace.png, .gif",
        f"one PNG per sample: {tmp_path}/seed_*.png",
    ]


def test_several_K_make_a_table_with_its_saturation(tiny_run, tmp_path):
    code, out, err = call(
        "sample",
        f"--workdir={tiny_run}",
        "--seeds=0-3",
        "--K=0,2,...,6",
        f"--out={tmp_path}",
    )
    assert code == 0, err
    assert "| 0 | 0.00% |" in out and "| 6 |" in out
    assert f"{tmp_path}/K.png, 4 of 4 seeds" in out


def test_a_table_has_no_trace(tiny_run):
    with pytest.raises(UserError, match="--trace: only for a single --K"):
        sample.sample([f"--workdir={tiny_run}", "--K=1,2", "--trace"])

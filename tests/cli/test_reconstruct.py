import re

import pytest
from helpers import call, explains_a_missing_run, untrained_run

from srmcmc_tf.cli import reconstruct
from srmcmc_tf.errors import UserError


def test_a_missing_run_is_explained(tmp_path):
    explains_a_missing_run("reconstruct", tmp_path)


def test_the_error_is_printed(tiny_run, tmp_path):
    code, out, err = call(
        "reconstruct",
        f"--workdir={tiny_run}",
        f"--out={tmp_path}",
        "--n=2",
        "--iterations=3",
    )
    assert code == 0, err
    assert re.fullmatch(
        r"MSE per pixel and channel, images in \[-1, 1\]: 0\.\d{4} "
        r"\(\+- 0\.\d{4}, n=2; \d\.\d{4} at the start\)\n"
        r"with untrained weights: 0\.\d{4} \(n=2\)\n"
        rf"{tmp_path}/reconstruction.png, .json, .npz\n",
        out,
    )


@pytest.mark.parametrize(
    "flag, message",
    [
        ("--mask=left", "--mask: only for --task=inpaint"),
        ("--factor=2", "--factor: only for --task=upscale"),
        ("--task=guess", "must be one of whole, inpaint, upscale"),
        ("--images=/missing", "--images=/missing: no such directory"),
    ],
)
def test_a_wrong_flag_is_explained(tiny_run, flag, message):
    with pytest.raises(UserError, match=message):
        reconstruct.reconstruct([f"--workdir={tiny_run}", flag])


def test_a_run_without_left_out_examples_is_explained(tmp_path):
    run = untrained_run(tmp_path / "run", n_left_out=0)
    code, _, err = call("reconstruct", f"--workdir={run}")
    assert code == 1 and err.count("\n") == 1
    assert "has no left-out examples: give --images=FOLDER" in err

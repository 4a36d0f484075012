import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from helpers import ROOT

from srmcmc_tf.cli import train
from srmcmc_tf.config import config
from srmcmc_tf.errors import UserError


def python(*args, **kwargs):
    return subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, **kwargs
    )


def test_help_is_grouped_and_names_every_flag():
    done = python(ROOT / "bin" / "train", "--help")
    assert done.returncode == 0 and done.stderr == ""
    for name in [*config.FIELDS, "workdir"]:
        assert f"--{name}=" in done.stdout
    for group in ("data:", "model:", "training:", "run:"):
        assert f"\n{group}\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_help_shows_the_defaults_of_the_data_set_asked_for():
    done = python(ROOT / "bin" / "train", "--dataset=cifar10", "--help")
    assert "--n_f=128" in done.stdout and "IS 6.21" in done.stdout


@pytest.mark.parametrize(
    "argv, message",
    [
        (["--sigmma=0.1"], "sigma"),
        (["--K=none"], "--K=none: must be a whole number"),
        (["digits"], "'digits': flags look like --name=value"),
        (["--K"], "K"),
    ],
)
def test_a_wrong_flag_is_explained(argv, message):
    with pytest.raises(UserError) as error:
        train.parse(argv)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_flags_become_typed_settings():
    given = train.parse(["--K=7", "--sigma", "0.2", "--workdir=w"])
    assert given == {"K": 7, "sigma": 0.2, "workdir": "w"}


def test_an_error_is_one_line_and_an_exit_code():
    done = python(ROOT / "bin" / "train", "--K=0")
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"train: error: --K=0: .*\n", done.stderr)


def test_import_is_quick_and_silent():
    code = "import sys, srmcmc_tf; assert 'tensorflow' not in sys.modules"
    done = python("-c", code, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_public_names_are_there():
    code = "import srmcmc_tf as s; [getattr(s, n) for n in s.__all__]"
    assert python("-c", code, cwd=ROOT).returncode == 0


def test_another_backend_is_refused_clearly():
    env = {**os.environ, "KERAS_BACKEND": "jax"}
    done = python("-c", "import srmcmc_tf", cwd=ROOT, env=env)
    assert "KERAS_BACKEND=tensorflow" in done.stderr.splitlines()[-1]


def bare_clone(tmp_path):
    """The launcher's files alone, as a fresh clone on a bare Python."""
    clone = tmp_path / "clone"
    for name in ("bin", "srmcmc_tf", "configs"):
        shutil.copytree(ROOT / name, clone / name)
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, clone / name)
    return clone


def bare_python():
    """The Python that this environment was made of."""
    return pathlib.Path(sys.base_prefix) / "bin" / "python3"


def test_a_failed_installation_shows_pips_error_and_leaves_nothing(tmp_path):
    clone = bare_clone(tmp_path)
    env = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/nowhere"}
    done = subprocess.run(
        [bare_python(), clone / "bin" / "train", "--help"],
        capture_output=True,
        text=True,
        env=env,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "ERROR" in done.stderr  # pip's own
    assert "installation failed" in done.stderr.splitlines()[-1]
    assert not (clone / ".venv").exists()


def test_an_environment_of_somebody_else_is_not_removed(tmp_path):
    clone = bare_clone(tmp_path)
    (clone / ".venv").mkdir()
    (clone / ".venv" / "notes.txt").write_text("mine")
    done = subprocess.run(
        [bare_python(), clone / "bin" / "train", "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, "PIP_NO_INDEX": "1"},
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert (clone / ".venv" / "notes.txt").exists()

import os
import pathlib
import shutil
import subprocess
import sys

from helpers import ROOT


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

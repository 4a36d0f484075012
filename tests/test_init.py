"""The public face of the package: quick, silent, and complete."""

import os
import subprocess
import sys

from helpers import ROOT

import srmcmc_tf


def python(code, **kwargs):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        **kwargs,
    )


def test_import_is_quick_and_silent():
    code = "import sys, srmcmc_tf; assert 'tensorflow' not in sys.modules"
    done = python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_public_names_are_there():
    for name in srmcmc_tf.__all__:
        assert getattr(srmcmc_tf, name)


def test_another_backend_is_refused_clearly():
    env = {**os.environ, "KERAS_BACKEND": "jax"}
    done = python("import srmcmc_tf", env=env)
    assert "KERAS_BACKEND=tensorflow" in done.stderr.splitlines()[-1]

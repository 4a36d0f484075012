"""The script of docs/distributed.md, as it stands there, with a tiny run."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest
from helpers import ROOT, TINY, rows, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not importlib.util.find_spec("ray"), reason="ray is not installed"
    ),
]


def script(workdir, **settings):
    """The documented script, its settings replaced."""
    text = (ROOT / "docs" / "distributed.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    config = {"workdir": str(workdir), **TINY, **settings}
    code, n = re.subn(
        r"train_loop_config=\{.*?\}",
        lambda _: f"train_loop_config={config!r}",
        code,
        flags=re.DOTALL,
    )
    assert n == 1
    return code


def start(code, folder):
    (folder / "script.py").write_text(code)
    return subprocess.Popen(
        [sys.executable, "script.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def chief_of(workdir):
    """The process that holds the lock of a run."""
    inode = str((workdir / ".lock").stat().st_ino)
    locks = open("/proc/locks").read().splitlines()
    (held,) = [line.split() for line in locks if f":{inode} " in line]
    return int(held[4])


def test_the_documented_script_trains_with_two_workers(tmp_path):
    workdir = tmp_path / "run"
    process = start(script(workdir, updates=20), tmp_path)
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0, out
    assert "the chief has written all files" in out
    assert [row["update"] for row in rows(workdir)] == list(range(1, 21))


def test_ray_starts_all_again_when_a_worker_dies(tmp_path):
    workdir = tmp_path / "run"
    code = script(workdir, updates=300, checkpoint_every=3)
    process = start(code, tmp_path)
    try:  # Ray's workers are niced: on a busy machine they hardly move
        wait_for(workdir, 8, process)
        os.kill(chief_of(workdir), 9)
        out, _ = process.communicate(timeout=600)
    finally:
        process.terminate()  # and with it all that Ray started
    assert process.returncode == 0, out
    assert "resuming from update" in out
    assert len(rows(workdir)) == 300

"""Sets up the environment of a clone, and runs a command in it.

Runs before anything is installed, so it imports the standard library only.
"""

import fcntl
import hashlib
import importlib
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys

from srmcmc_tf.cli import interrupts

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
# Its text is a digest of what was installed; a .venv without it was made by
# somebody else.
MARK = VENV / ".srmcmc_tf"
_UNFINISHED = "unfinished"


def run(command: str) -> None:
    """Runs `srmcmc_tf.cli.COMMAND` in an environment that has what it needs."""
    interrupts.end_at_once(command)
    if not (3, 10) <= sys.version_info[:2] <= (3, 13):
        version = ".".join(map(str, sys.version_info[:3]))
        sys.exit(f"needs Python 3.10 to 3.13; {sys.executable} is {version}")
    in_venv = pathlib.Path(sys.prefix) == VENV
    if in_venv or not _has_package():
        try:
            with interrupts.restored():
                interrupts.interrupt()  # so that half of one is removed
                installed = _install()
        except KeyboardInterrupt:
            sys.exit("interrupted; start again to install")
        if installed or not in_venv:
            python = str(VENV / "bin" / "python")
            os.execv(python, [python, *sys.argv])
    try:
        module = importlib.import_module(f"srmcmc_tf.cli.{command}")
    except ImportError as error:
        sys.exit(f"{command}: error: {error}; pip install --editable {ROOT}")
    module.main()


def _has_package() -> bool:
    """Whether srmcmc_tf is installed, not only importable from this clone."""
    path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != ROOT]
    found = importlib.metadata.distributions(name="srmcmc_tf", path=path)
    return next(iter(found), None) is not None


def _install() -> bool:
    """Installs what setup.cfg requires; False if that is installed already."""
    with open(ROOT / "setup.cfg", "rb") as setup:
        wanted = hashlib.sha256(setup.read()).hexdigest()
        if _mark() == wanted:
            return False
        # Of two commands started at once, the second waits for the first.
        fcntl.flock(setup, fcntl.LOCK_EX)
        if _mark() == wanted:
            return False
        print(
            f"installing into {VENV} (once, a minute or two)", file=sys.stderr
        )
        # An unfinished one is made again; a finished one, or somebody else's,
        # is only updated.
        fresh = _mark() == _UNFINISHED or not _entries(VENV)
        if fresh:
            shutil.rmtree(VENV, ignore_errors=True)
            VENV.mkdir(exist_ok=True)
            MARK.write_text(_UNFINISHED)
        try:
            if fresh:
                # Of a virtual environment, the Python that made it.
                python = sys._base_executable  # type: ignore[attr-defined]
                _call(python, "-m", "venv", str(VENV))
            pip = [str(VENV / "bin" / "python"), "-m", "pip", "install"]
            pip += ["--quiet", "--disable-pip-version-check"]
            # The pip of Python 3.10 is slow to resolve.
            _call(*pip, "--upgrade", "pip")
            _call(*pip, "--editable", f"{ROOT}[serve,test]")
        except BaseException:
            if fresh:
                shutil.rmtree(VENV, ignore_errors=True)
            raise
        MARK.write_text(wanted)
        return True


def _mark() -> str | None:
    return MARK.read_text() if MARK.exists() else None


def _entries(path: pathlib.Path) -> list[pathlib.Path]:
    return list(path.iterdir()) if path.is_dir() else []


def _call(*command: str) -> None:
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError:
        sys.exit(
            f"{VENV} is not a Python environment: remove it and start again"
        )
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        sys.exit(
            f"the installation failed: `python {' '.join(command[1:4])}` "
            "printed the above; fix that and start again"
        )

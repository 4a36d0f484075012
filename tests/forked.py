"""Commands in forks of one process that has imported everything.

Real processes, which can be killed like any other, without the seconds that
importing TensorFlow takes. TensorFlow starts no thread until it computes, so
the fork is safe. A few tests start bin/ itself; see `helpers.run`.
"""

import importlib
import multiprocessing
import multiprocessing.forkserver
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent
MODULES = ["helpers", "srmcmc_tf.cli.train", "srmcmc_tf.training.train"]

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(MODULES)


class Command:
    """A command that runs: the part of `subprocess.Popen` that tests need."""

    def __init__(self, module, *args, env=None):
        """Starts `module.main()` with arguments and changes of `os.environ`."""
        self._output = pathlib.Path(tempfile.mkdtemp())
        with _python_path():
            multiprocessing.forkserver.ensure_running()
        environ = {**os.environ, **(env or {})}
        args = module, list(map(str, args)), environ, self._output
        self._process = _context.Process(target=_run, args=args)
        self._process.start()
        self.pid = self._process.pid

    def poll(self):
        return self._process.exitcode

    @property
    def returncode(self):
        return self._process.exitcode

    def send_signal(self, number):
        if self._process.is_alive():
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout=None):
        self._process.join(timeout)
        if self._process.is_alive():
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return [(self._output / name).read_text() for name in ("out", "err")]


def _run(module, args, environ, output):
    """What the process does."""
    for number, name in ((1, "out"), (2, "err")):
        flags = os.O_WRONLY | os.O_CREAT
        os.dup2(os.open(output / name, flags), number)
    os.environ.clear()
    os.environ.update(environ)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = [module, *args]
    importlib.import_module(module).main()


class _python_path:
    """Lets the process that forks import this clone, and no other."""

    def __enter__(self):
        self._before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = f"{TESTS.parent}{os.pathsep}{TESTS}"

    def __exit__(self, *_):
        del os.environ["PYTHONPATH"]
        if self._before is not None:
            os.environ["PYTHONPATH"] = self._before

"""Starts, kills and judges commands for the fault suite."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from helpers import ROOT

# Each command ends within these seconds, on a busy machine too.
TIMEOUT = 300


class Ended(NamedTuple):
    """A command that has ended; `code` is negative for a signal."""

    code: int
    out: str
    err: str

    @property
    def trace(self):
        """Whether it showed a stack trace, or hid one in a file."""
        return bool(re.search("Traceback|internal error", self.err + self.out))

    @property
    def errors(self):
        """The lines of stderr that tell of an error."""
        lines = self.err.splitlines()
        return [line for line in lines if re.match(r"\w+: .*error", line)]


class Zygote:
    """Commands in forks of a process; see zygote.py."""

    def __init__(self):
        self._output = tempfile.mkdtemp()
        self._process = subprocess.Popen(
            [sys.executable, ROOT / "tests" / "faults" / "zygote.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env={**os.environ, "PYTHONPATH": f"{ROOT}"},
        )
        assert self._process.stdout.readline() == "ready\n"

    def close(self):
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def start(self, command, *args, cwd=None, limits=None):
        """Starts a command; returns its pid."""
        request = {
            "command": command,
            "args": list(map(str, args)),
            "cwd": str(cwd or self._output),
            "output": self._output,
            "limits": limits or {},
        }
        print(json.dumps(request), file=self._process.stdin)
        return int(self._process.stdout.readline())

    def finish(self):
        """Waits for the command that was started last."""
        status = int(self._process.stdout.readline())
        texts = []
        for name in ("out", "err"):
            path = os.path.join(self._output, name)
            with open(path, errors="backslashreplace") as file:
                texts.append(file.read())
        return Ended(os.waitstatus_to_exitcode(status), *texts)

    def run(self, command, *args, **settings):
        """Runs a command to its end."""
        pid = self.start(command, *args, **settings)
        with _deadline(pid):
            return self.finish()

    def interrupt(self, seconds, number, command, *args):
        """Runs a command and sends it a signal after some seconds."""
        pid = self.start(command, *args)
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError), _deadline(pid):
            os.kill(pid, number)
            return self.finish()
        return self.finish()


@contextlib.contextmanager
def _deadline(pid):
    """Kills a process that hangs: its test then sees the signal."""
    handler = signal.signal(
        signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL)
    )
    signal.alarm(TIMEOUT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)

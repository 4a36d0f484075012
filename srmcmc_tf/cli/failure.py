"""The last resort: any error as one line, its traceback in a file."""

import os
import platform
import sys
import tempfile
import traceback

from srmcmc_tf import __version__, errors

CODE = 1
INTERNAL = 70  # as EX_SOFTWARE of sysexits.h
BROKEN_PIPE = 141  # as a process that SIGPIPE ends


def show(command: str, message: str) -> None:
    """Prints one line to stderr, even if nobody can read it any more."""
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    try:
        if tqdm := sys.modules.get("tqdm"):  # else the line follows a bar
            for bar in list(getattr(tqdm.tqdm, "_instances", ())):
                bar.close()
        print(f"{command}: {line}", file=sys.stderr, flush=True)
    except OSError:
        _discard(2)


def report(command: str, error: BaseException) -> int:
    """Shows an error as one line and returns the exit code for it."""
    if isinstance(error, errors.UserError):
        show(command, f"error: {error}")
        return CODE
    if isinstance(error, BrokenPipeError):
        show(command, "error: its output was closed, so it stopped")
        _discard(1)
        return BROKEN_PIPE
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        show(command, f"error: {error.strerror or error}{where}")
        return CODE
    if errors.is_out_of_memory(error):
        show(command, f"error: out of memory ({errors.reason(error)})")
        return CODE
    name = type(error).__name__
    show(
        command,
        f"internal error: {name}: {errors.reason(error)}; {_save(command)}",
    )
    return INTERNAL


def print_last(text: str = "") -> None:
    """Prints the last of a command; a reader that left is no error then."""
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:  # as of `bin/train --help | head`
        _discard(1)


def _save(command: str) -> str:
    """Saves the traceback that is being handled; tells where."""
    lines = [
        f"srmcmc_tf {__version__}, Python {platform.python_version()}, "
        f"{platform.platform()}",
        f"{sys.argv}",
        traceback.format_exc(),
    ]
    try:
        # A new file that nobody else can have prepared.
        descriptor, path = tempfile.mkstemp(".log", f"srmcmc-{command}-")
        with open(descriptor, "w", errors="backslashreplace") as file:
            file.write("\n".join(lines))
    except OSError as error:
        return f"its traceback could not be saved ({error.strerror})"
    return f"please report it with its traceback, {path}"


def _discard(descriptor: int) -> None:
    """Lets all further output to a descriptor vanish."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)

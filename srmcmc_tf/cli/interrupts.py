"""Ctrl-C at any moment: one line, and the exit code of an interruption.

Imports the standard library only: a command may be interrupted before anything
else is there.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

CODE = 128 + signal.SIGINT


class State:
    """Whether Ctrl-C was pressed, also where a library hid the exception."""

    interrupted = False


def end_at_once(command: str) -> None:
    """From now on Ctrl-C ends the process, while there is nothing to clean up.

    Imports are such a time: an exception in the middle of one may be taken for
    a broken installation.
    """

    def end(number: int, frame: FrameType | None) -> None:
        os.write(2, f"{command}: interrupted\n".encode())
        os._exit(CODE)

    _handle(end)


def interrupt() -> None:
    """From now on Ctrl-C raises `KeyboardInterrupt`, as Python does."""

    def stop(number: int, frame: FrameType | None) -> None:
        State.interrupted = True
        raise KeyboardInterrupt

    _handle(stop)


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Restores the handler after the block."""
    before = signal.getsignal(signal.SIGINT)
    State.interrupted = False
    try:
        yield
    finally:
        if before is not None and _in_main_thread():
            signal.signal(signal.SIGINT, before)


def _handle(handler: Callable[[int, FrameType | None], None]) -> None:
    # A signal that was ignored at the start, as by nohup, stays ignored.
    ignored = signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None)
    if not ignored and _in_main_thread():
        signal.signal(signal.SIGINT, handler)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()

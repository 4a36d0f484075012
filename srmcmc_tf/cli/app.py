"""What all commands share: logging, quiet TensorFlow, one-line errors."""

import contextlib
import io
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import NoReturn

from srmcmc_tf.cli import failure, interrupts


def run(command: str, main: Callable[[list[str]], int]) -> NoReturn:
    """Exits with the code that `main(argv)` returns; errors become one line.

    Args:
        command: its file in bin/.
        main: is given the arguments after the name of the command.
    """
    with interrupts.restored():
        interrupts.end_at_once(command)  # until `import_tensorflow`
        _open_closed_streams()
        _quieten()
        sys.exit(_code(command, main))


def _code(command: str, main: Callable[[list[str]], int]) -> int:
    try:
        with _logs_shown():
            try:
                code = main(sys.argv[1:])
            except SystemExit as end:  # the help was printed
                if end.code:
                    raise
                code = 0
        failure.print_last()
        return code
    except KeyboardInterrupt:
        pass
    except Exception as error:
        if not interrupts.State.interrupted:
            return failure.report(command, error)
    failure.show(command, "interrupted")
    return interrupts.CODE


def _open_closed_streams() -> None:
    """Opens what was closed, as by `2>&-`, and lets all text be printed."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    sys.stdout = sys.stdout or open(1, "w")
    sys.stderr = sys.stderr or open(2, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may be of any bytes
            stream.reconfigure(errors="backslashreplace")


def _quieten() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if not sys.stderr.isatty():  # tqdm: a line now and then
        os.environ.setdefault("TQDM_MININTERVAL", "10")
        os.environ.setdefault("TQDM_ASCII", " #")
    for noisy in ("absl", "matplotlib", "tensorflow", "urllib3"):
        logging.getLogger(noisy).setLevel(logging.ERROR)


def import_tensorflow() -> None:
    """Imports TensorFlow and discards what it writes to stderr."""
    with _stderr_held():
        import tensorflow as tf

        tf.config.list_physical_devices()  # looks for a GPU, and logs that
    interrupts.interrupt()  # from now on there may be something to clean up


class _Handler(logging.Handler):
    """Shows records as plain lines: warnings on stderr, others on stdout.

    They do not break into progress bars. `tqdm.write` would also draw a bar
    whose `delay` is not over, which tqdm then leaves open when it is closed.
    """

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm  # reads its settings when it is imported

        warned = record.levelno >= logging.WARNING
        stream = sys.stderr if warned else sys.stdout
        bars = [
            bar
            for bar in getattr(tqdm, "_instances", ())
            if bar.last_print_t >= bar.start_t + bar.delay
        ]
        for bar in bars:
            bar.clear()
        print(self.format(record), file=stream, flush=True)
        for bar in bars:
            bar.refresh()


@contextlib.contextmanager
def _logs_shown() -> Iterator[None]:
    """Shows what the library logs."""
    logger = logging.getLogger("srmcmc_tf")
    handler = _Handler()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    # The root logger may have handlers too: absl adds one.
    propagate, logger.propagate = logger.propagate, False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


@contextlib.contextmanager
def _stderr_held() -> Iterator[None]:
    """Holds back what C++ writes to stderr, and shows it if the block fails.

    TensorFlow writes some lines before it reads its own log level.
    """
    saved = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(saved, held.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)

"""What all commands share: logging, quiet TensorFlow, one-line errors."""

import contextlib
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import NoReturn

from srmcmc_tf.errors import UserError


def run(command: str, main: Callable[[list[str]], int]) -> NoReturn:
    """Exits with the code that `main(argv)` returns; errors become one line.

    Args:
        command: its file in bin/.
        main: is given the arguments after the name of the command.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if not sys.stderr.isatty():  # tqdm: a line now and then
        os.environ.setdefault("TQDM_MININTERVAL", "10")
        os.environ.setdefault("TQDM_ASCII", " #")
    for noisy in ("absl", "matplotlib", "tensorflow", "urllib3"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
    try:
        with _logs_shown():
            code = main(sys.argv[1:])
    except UserError as error:
        code = _fail(command, str(error))
    except BrokenPipeError:  # the reader of `bin/train --help | head` left
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        code = _fail(command, f"{error.strerror or error}{where}")
    except KeyboardInterrupt:
        print(f"{command}: interrupted", file=sys.stderr)
        code = 128 + signal.SIGINT
    sys.exit(code)


def import_tensorflow() -> None:
    """Imports TensorFlow and discards what it writes to stderr."""
    with _stderr_held():
        import tensorflow as tf

        tf.config.list_physical_devices()  # looks for a GPU, and logs that


class _Handler(logging.Handler):
    """Shows records as plain lines: warnings on stderr, others on stdout.

    tqdm writes them, so that they do not break into its progress bars.
    """

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm  # reads its settings when it is imported

        warned = record.levelno >= logging.WARNING
        stream = sys.stderr if warned else sys.stdout
        tqdm.write(self.format(record), stream)
        stream.flush()


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


def _fail(command: str, message: str) -> int:
    print(f"{command}: error: {message}", file=sys.stderr)
    return 1

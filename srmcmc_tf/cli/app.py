"""What all verbs share: quiet TensorFlow, errors as one line."""

import contextlib
import logging
import os
import signal
import sys
import tempfile

from srmcmc_tf.errors import UserError


def run(verb, main):
    """Ends the process with `main()`'s exit code; errors become one line."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if not sys.stderr.isatty():  # tqdm's: a line now and then, no flood
        os.environ.setdefault("TQDM_MININTERVAL", "10")
        os.environ.setdefault("TQDM_ASCII", " #")
    for chatty in ("absl", "matplotlib", "tensorflow", "urllib3"):
        logging.getLogger(chatty).setLevel(logging.ERROR)
    try:
        code = main(sys.argv[1:])
    except UserError as error:
        code = _fail(verb, error)
    except BrokenPipeError:  # the reader of `bin/train --help | head` left
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        code = _fail(verb, f"{error.strerror or error}{where}")
    except KeyboardInterrupt:
        print(f"{verb}: interrupted", file=sys.stderr)
        code = 128 + signal.SIGINT
    sys.exit(code)


def import_tensorflow():
    """Imports TensorFlow without its chatter."""
    with quiet():
        import tensorflow as tf

        tf.config.list_physical_devices()  # looks for a GPU, and says so


@contextlib.contextmanager
def quiet():
    """Holds back what C++ writes to stderr while TensorFlow is imported.

    It comes before TensorFlow's own log level counts. Shown after all if the
    block fails.
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


def _fail(verb, message):
    print(f"{verb}: error: {message}", file=sys.stderr)
    return 1

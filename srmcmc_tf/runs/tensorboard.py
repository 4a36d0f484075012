"""Summaries for TensorBoard; an `OSError` where they cannot be written.

TensorFlow's own error for a full disk would pass for a lack of memory or, in
`fit`, for the end of the data: the run would stop as if it were complete.
"""

import contextlib
import errno
import pathlib
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from srmcmc_tf import errors


class Writer:
    """Writes the summaries of TensorFlow to a directory.

    Args:
        directory: a `pathlib.Path`, TensorBoard's `--logdir` or a part of it.
    """

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        with self._as_os_error():
            self._writer = tf.summary.create_file_writer(str(directory))

    @contextlib.contextmanager
    def at(self, step: int) -> Iterator[None]:
        """Within it `tf.summary` writes here, for a step."""
        number = np.int64(step)  # see `scalar`
        with self._as_os_error(), self._writer.as_default(step=number):
            yield

    def close(self) -> None:
        with self._as_os_error():
            self._writer.close()

    @contextlib.contextmanager
    def _as_os_error(self) -> Iterator[None]:
        try:
            yield
        except tf.errors.OpError as error:
            reason = errors.reason(error)
            raise OSError(errno.EIO, reason, str(self.directory)) from None


def scalar(name: str, value: float, description: str | None = None) -> None:
    """Writes a number as `tf.summary.scalar` does, without its leak.

    TensorFlow keeps every Python number that becomes a tensor, about 700 bytes
    each, for as long as the process lives. Numbers of NumPy are not kept.
    """
    tf.summary.scalar(name, np.float32(value), description=description)


@contextlib.contextmanager
def once(directory: pathlib.Path, step: int) -> Iterator[None]:
    """Within it `tf.summary` writes to a directory, which is then closed."""
    writer = Writer(directory)
    with writer.at(step):
        yield
    writer.close()

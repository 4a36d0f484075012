"""Errors that a person can act on: one line, no stack trace."""

import re


class UserError(Exception):
    """What went wrong, where, and what to do, in one line."""


class NonFiniteError(UserError):
    """A quantity of the training became infinite or NaN."""


def reason(error: BaseException) -> str:
    """Returns the first line of an error, without TensorFlow's additions.

    These are the name of the operation and the file's temporary name.
    """
    line = (str(error).strip() or repr(error)).splitlines()[0]
    line = re.sub(r"\{\{.*?\}\} *", "", line)
    return line.split("; ")[-1].partition(" [Op:")[0]


def is_out_of_memory(error: BaseException) -> bool:
    """Whether Python, NumPy or TensorFlow could not allocate memory."""
    # By its name: TensorFlow takes seconds to import.
    names = {one.__name__ for one in type(error).__mro__}
    return bool(names & {"MemoryError", "ResourceExhaustedError"})

"""Mistakes and mishaps that a person can act on: one line, no stack trace."""


class UserError(Exception):
    """What went wrong, where, and what to do, in one line."""


class NonFiniteError(UserError):
    """A quantity of the training became infinite or NaN."""

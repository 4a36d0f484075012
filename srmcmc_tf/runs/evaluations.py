"""The evaluations made during training: records by update, in one file."""

import pathlib
from typing import Any

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, json_file, paths

Records = dict[str, dict[str, Any]]

_SCHEMA = {str: {str: {"value": (float, type(None))}}}
_REMEDY = (
    "restore it from a copy, or move it away to continue without the "
    "evaluations in it"
)


class Evaluations:
    """The evaluations of a run.

    Args:
        path: the file; it may not exist yet.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path

    def read(self) -> dict[int, Records]:
        """Returns the records by update; `UserError` if they are damaged."""
        values = json_file.read(self._path, _SCHEMA, remedy=_REMEDY) or {}
        for update in values:
            if paths.number(update) is None:
                raise UserError(
                    f"{self._path} is damaged ({update[:20]!r} is no update); "
                    f"{_REMEDY}"
                )
        return {int(update): found for update, found in values.items()}

    def write(self, records: dict[int, Records]) -> None:
        """Replaces all evaluations."""
        atomic.write_json(self._path, records)

    def resume(self, update: int) -> dict[int, Records]:
        """Returns the evaluations up to an update, and drops later ones."""
        found = self.read()
        kept = {u: records for u, records in found.items() if u <= update}
        if len(kept) < len(found):
            self.write(kept)
        return kept

"""The evaluations made during training: records by update, in one file."""

import json
import pathlib
from typing import Any

from srmcmc_tf.files import atomic

Records = dict[str, dict[str, Any]]


class Evaluations:
    """The evaluations of a run.

    Args:
        path: the file; it may not exist yet.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path

    def read(self) -> dict[int, Records]:
        """Returns the records by update; none if the file is unreadable."""
        try:
            values = json.loads(self._path.read_text())
            return {int(update): found for update, found in values.items()}
        except (OSError, ValueError, AttributeError):
            return {}

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

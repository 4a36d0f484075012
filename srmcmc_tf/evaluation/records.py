"""Records of measured values, and the JSON file that keeps them."""

import os
import pathlib
from typing import Any

from srmcmc_tf.files import atomic, json_file
from srmcmc_tf.runs.evaluations import Records

# `value`, which is None if there is none, `n`, and whatever else belongs to it.
Record = dict[str, Any]

_SCHEMA = {
    "identity": str,
    "records": {str: {"value": (float, type(None)), "request": str}},
}


class RecordFile:
    """A JSON file of the records of one model or set of images.

    Args:
        path: of the file. Records of another identity are replaced.
        identity: text that changes when the model or the images do.
    """

    def __init__(self, path: str | os.PathLike[str], identity: str) -> None:
        self.path = pathlib.Path(path)
        self.identity = identity
        remedy = "move it away to measure again, or restore it from a copy"
        stored = json_file.read(self.path, _SCHEMA, remedy=remedy)
        if stored is None or stored["identity"] != identity:
            stored = {"records": {}}
        self.records: Records = stored["records"]

    def has(self, name: str, request: str) -> bool:
        """Whether a metric was measured for the same request."""
        return self.records.get(name, {}).get("request") == request

    def add(self, records: Records, request: str) -> None:
        """Adds the records measured for a request, and writes the file."""
        for name, record in records.items():
            self.records[name] = {**record, "request": request}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        values = {"identity": self.identity, "records": self.records}
        atomic.write_json(self.path, values)

"""The interventions of the divergence guard, a line of JSON each.

The file is rewritten as a whole, after everything else of an intervention: a
run that is killed before diverges again at the same update. A checkpoint at
update u belongs to the branch after the last intervention that rolled back to
u or before, so nothing else is stored.
"""

import json
import pathlib
from typing import Any

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, json_file

MAXIMUM = 10  # interventions of a run

Intervention = dict[str, Any]

_SCHEMA = {
    "number": int,
    "update": int,
    "reason": str,
    "back_to": int,
    "seed": int,
    "sigma": float,
    "sigma_least": float,
}
_REMEDY = "restore it from a copy: the checkpoints depend on it"


class Interventions:
    """The interventions of a run.

    Args:
        path: the file; it may not exist yet.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path

    def up_to(self, update: int) -> list[Intervention]:
        """Returns those that led to a checkpoint; update 0 is the start."""
        found = self._read()
        count = max(
            (i for i, one in enumerate(found, 1) if one["back_to"] <= update),
            default=0,
        )
        return found[:count]

    def resume(self, update: int) -> list[Intervention]:
        """Returns those that led to a checkpoint, and drops later ones.

        The checkpoints of the later ones were lost, so the run will repeat
        them.
        """
        kept = self.up_to(update)
        if self._path.exists():
            self.write(kept)
        return kept

    def write(self, interventions: list[Intervention]) -> None:
        """Replaces all interventions."""
        lines = [json.dumps(line) + "\n" for line in interventions]
        atomic.write_text(self._path, "".join(lines))

    def _read(self) -> list[Intervention]:
        found = json_file.read_lines(self._path, _SCHEMA, remedy=_REMEDY)
        numbers = [one["number"] for one in found]
        if numbers != list(range(1, len(found) + 1)):
            raise UserError(
                f"{self._path} is damaged (it has the interventions "
                f"{numbers}); {_REMEDY}"
            )
        return found


def describe(intervention: Intervention) -> str:
    """Returns an intervention as a sentence."""
    text = (
        f"guard: update {intervention['update']:,}: {intervention['reason']}; "
        f"intervention {intervention['number']} of at most {MAXIMUM}: back to "
        f"update {intervention['back_to']:,}, with another seed"
    )
    if intervention["sigma_least"]:
        text += f" and sigma not below {intervention['sigma_least']:.3g}"
    return text

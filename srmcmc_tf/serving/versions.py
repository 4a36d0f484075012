"""The directory of an export: versions 1, 2, ..., each with a model card."""

import pathlib

from srmcmc_tf.files import paths

CARD_JSON = "model_card.json"
CARD_MARKDOWN = "model_card.md"


def number(path: pathlib.Path) -> int | None:
    """Returns the number that a path is named by, or None."""
    return paths.number(path.name)


def numbers(directory: pathlib.Path) -> list[int]:
    """Returns the numbers of the versions in a directory, in order."""
    found = map(number, directory.iterdir())
    return sorted(n for n in found if n is not None)


def find(directory: pathlib.Path) -> pathlib.Path:
    """Returns the newest version in a directory, or the version it is.

    `OSError` or `ValueError` if there is none.
    """
    if (directory / CARD_JSON).exists():
        return directory
    return directory / str(max(numbers(directory)))

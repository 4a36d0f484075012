"""The directory of an export: versions 1, 2, ..., each with a model card."""

import pathlib

CARD_JSON = "model_card.json"
CARD_MARKDOWN = "model_card.md"


def numbers(directory: pathlib.Path) -> list[int]:
    """Returns the numbers of the versions in a directory, in order."""
    names = (path.name for path in directory.iterdir())
    return sorted(int(name) for name in names if name.isdigit())


def find(directory: pathlib.Path) -> pathlib.Path:
    """Returns the newest version in a directory, or the version it is.

    `OSError` or `ValueError` if there is none.
    """
    if (directory / CARD_JSON).exists():
        return directory
    return directory / str(max(numbers(directory)))

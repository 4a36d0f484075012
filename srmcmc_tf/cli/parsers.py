"""Parsers of the values of flags: text to value, or a `Refusal`."""

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srmcmc_tf.config import masks
from srmcmc_tf.files import image_file
from srmcmc_tf.runs import preset

Parser = Callable[[str], Any]


class Refusal(ValueError):
    """Why a text is not allowed, without the name of the flag."""


def switch(text: str) -> bool:
    """Parses the value of a flag that needs none: `--trace`, `--notrace`."""
    return text == "true"


def integer(low: int, high: int) -> Parser:
    """Returns a parser of one whole number."""

    def parse(text: str) -> int:
        try:
            if low <= int(text) <= high:
                return int(text)
        except ValueError:
            pass
        raise Refusal(f"must be a whole number, {low:,} to {high:,}")

    return parse


# Numbers of one flag: a list of more would not fit into the memory.
_MOST = 1_000_000


def integers(low: int = 0, high: int = 2**31 - 1) -> Parser:
    """Returns a parser of `5`, `0-63`, `1,2,7-9` or `0,20,...,200`."""

    def parse(text: str) -> list[int]:
        try:
            spans = [span for span in _spans(text.split(",")) if span]
        except (ValueError, IndexError, OverflowError):
            spans = []
        ends = [end for span in spans for end in (span[0], span[-1])]
        if not ends or min(ends) < low or max(ends) > high:
            raise Refusal(
                f"must be whole numbers from {low:,} to {high:,}, such as 5, "
                "0-63, 1,2,7-9 or 0,20,...,200"
            )
        count = sum(map(len, spans))
        if count > _MOST:
            raise Refusal(
                f"these are {count:,} numbers, of at most {_MOST:,}: give them "
                "in parts"
            )
        return [number for span in spans for number in span]

    return parse


def labels(text: str) -> list[int] | list[str]:
    """Parses classes: numbers as of `integers`, or names with commas."""
    words = text.split(",")
    if "" in words:
        raise Refusal("must be classes, such as 3, 0-9 or cat,dog")
    numbers = all(re.fullmatch(r"\d+(-\d+)?|\.\.\.", word) for word in words)
    return integers()(text) if numbers else words


def _spans(parts: list[str]) -> Iterator[range]:
    last: list[int] = []  # the last two numbers
    for i, part in enumerate(parts):
        if part == "...":
            step = last[-1] - last[-2]
            span = range(last[-1] + step, int(parts[i + 1]), step)
        elif "-" in part:
            first, end = map(int, part.split("-"))
            span = range(first, end + 1)
        else:
            span = range(int(part), int(part) + 1)
        last = [*last, *span[-2:]][-2:]
        yield span


def choice(*choices: str) -> Parser:
    """Returns a parser of one word out of several."""

    def parse(text: str) -> str:
        if text not in choices:
            raise Refusal(f"must be one of {', '.join(choices)}")
        return text

    return parse


def choices(*allowed: str) -> Parser:
    """Returns a parser of some words out of several, with commas between."""

    def parse(text: str) -> list[str]:
        for word in text.split(","):
            if word not in allowed:
                raise Refusal(f"must be one of {', '.join(allowed)}")
        return text.split(",")

    return parse


def directory(text: str) -> str:
    """Parses the path of an existing directory."""
    if not os.path.isdir(os.path.expanduser(text)):
        raise Refusal("no such directory")
    return text


def mask(text: str) -> str:
    """Parses the name of a mask, or a picture: white where pixels are known.

    A picture becomes a text, so that it may be moved or changed later.
    """
    if text in masks.MASKS or masks.is_text(text):
        return text
    try:
        picture = image_file.read(os.path.expanduser(text), 1)
    except ValueError as error:
        raise Refusal(
            f"must be {', '.join(masks.MASKS)} or a picture ({error})"
        ) from None
    return masks.encode(np.asarray(picture) > 127)


def absolute_path(text: str) -> str:
    """Parses a path, so that it means the same from any directory."""
    return os.path.abspath(os.path.expanduser(text)) if text else ""


def origin(text: str) -> str:
    """Parses preset:NAME, or preset:PATH; see `absolute_path`."""
    if not text:
        return text
    name = preset.name_of(text)
    return preset.PREFIX + absolute_path(name) if preset.is_path(name) else text

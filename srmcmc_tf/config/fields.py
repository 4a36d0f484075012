"""A field of `Config`: its range, its help, and what a wrong value gets."""

import dataclasses
import difflib
from collections.abc import Iterable
from typing import Any

from srmcmc_tf.config import datasets
from srmcmc_tf.errors import UserError


def setting(
    default: Any,
    group: str,
    text: str,
    low: float | None = None,
    high: float | None = None,
    **rules: Any,
) -> Any:
    """Returns a dataclass field with the rules that `check` applies.

    Args:
        default: its value where none is given.
        group: heading above its flag in the help.
        text: what it means.
        low, high: range of a number.
        **rules: `choices`, the only values; `word`, a word allowed instead of
            a number; `each`, the type of the parts of a text such as "20,10";
            `flag`, its name on the command line where it is another.
    """
    rules = {"choices": None, "word": None, "each": None, "flag": None, **rules}
    metadata = dict(group=group, help=text, low=low, high=high, **rules)
    return dataclasses.field(default=default, metadata=metadata)


def check(field: Any, value: Any) -> None:
    """Raises `UserError` where a value is not allowed."""
    rules = field.metadata
    if rules["word"] and value == rules["word"]:
        return
    types = (int, float) if field.type is float else field.type
    good = isinstance(value, types) and not isinstance(value, bool)
    if good and rules["choices"]:
        good = value in rules["choices"]
        if field.name == "dataset":
            good = good or datasets.is_name(value)
    elif good and field.type is not str:
        good = rules["low"] <= value <= rules["high"]
    elif good and rules["each"]:
        good = _all_in_range(rules, value)
    if field.name == "image_size":
        good = good and value & (value - 1) == 0
    if not good:
        raise UserError(refusal(field, value))


def flag_name(field: Any) -> str:
    """The name of a field on the command line."""
    return field.metadata["flag"] or field.name


def parts(text: str, kind: type) -> list[Any]:
    """The numbers of a text such as "20,10"."""
    return [kind(part) for part in text.split(",")] if text else []


def _all_in_range(rules: Any, text: str) -> bool:
    try:
        values = parts(text, rules["each"])
    except ValueError:
        return False
    return all(rules["low"] <= value <= rules["high"] for value in values)


def allowed(field: Any) -> str:
    """The values a field may take, in words; nothing where any text may."""
    rules = field.metadata
    if rules["choices"]:
        return ", ".join(map(str, rules["choices"]))
    if field.type is str and not rules["each"]:
        return ""
    word = f", or {rules['word']}" if rules["word"] else ""
    return f"{rules['low']:,} to {rules['high']:,}{word}"


def refusal(field: Any, value: Any) -> str:
    """The line that says what a field may be instead of a value."""
    kind = {int: "a whole number, ", float: "a number, ", str: ""}[field.type]
    if field.metadata["choices"]:
        kind = "one of "
    elif field.metadata["each"]:
        kind = {int: "whole numbers", float: "numbers"}[field.metadata["each"]]
        kind += " with commas between, each "
    elif field.name == "image_size":
        kind = "a power of two, "
    hint = suggest(value, field.metadata["choices"] or ())
    return f"--{field.name}={value}: must be {kind}{allowed(field)}{hint}"


def suggest(name: Any, names: Iterable[Any]) -> str:
    """A hint at the nearest of `names`, or nothing."""
    near = difflib.get_close_matches(str(name), list(map(str, names)), 1)
    return f"; did you mean {near[0]!r}?" if near else ""

"""Reads the JSON files that this package writes: checked, or one line.

A schema is a type (`float` takes whole numbers too, `object` anything), a tuple
of types, or a dictionary: `{"name": schema}` for an object that must have these
names, and may have others; `{str: schema}` is for all others.
"""

import json
import os
import pathlib
from typing import Any

from srmcmc_tf.errors import UserError, reason
from srmcmc_tf.files import paths

Schema = Any

_WORDS: dict[Any, str] = {
    dict: "an object",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "text",
    type(None): "null",
}


def read(
    path: str | os.PathLike[str],
    schema: Schema,
    *,
    remedy: str,
    newest: int = 1,
) -> Any | None:
    """Returns the value in a JSON file, or None where there is no file.

    Args:
        path: the file.
        schema: see above.
        remedy: what to do about a damaged file, the end of the `UserError`.
        newest: the newest `format` of the file that is known; a file without
            that name has the format 1.
    """
    text = _text(path, remedy)
    if text is None:
        return None
    try:
        value = parse(text, object)
        _check_format(path, value, newest)
        _check(value, schema, "")
        return value
    except ValueError as error:
        raise _unreadable(path, error, remedy) from None


def read_lines(
    path: str | os.PathLike[str], schema: Schema, *, remedy: str
) -> list[Any]:
    """Returns the values of a file with a line of JSON each, in order.

    Args:
        path: the file; where there is none, there are no values.
        schema: of each line.
        remedy: as for `read`.
    """
    values = []
    text = _text(path, remedy)
    if not text:
        return []
    for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
        try:
            values.append(parse(line, schema))
        except ValueError as error:
            where = f"{path}, line {number}"
            raise _unreadable(where, error, remedy) from None
    return values


def parse(text: str, schema: Schema) -> Any:
    """Returns the value of a JSON text; `ValueError` if it is not allowed.

    Python's parser also takes NaN, numbers beyond the range of their type and
    repeated names, which no file of ours has: these are damage.
    """
    try:
        value = json.loads(
            text,
            parse_constant=_not_finite,
            parse_float=_finite,
            parse_int=_whole,
            object_pairs_hook=_unique,
        )
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    _check(value, schema, "")
    return value


def _text(path: str | os.PathLike[str], remedy: str) -> str | None:
    try:
        paths.regular(path)
        return pathlib.Path(path).read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _unreadable(path, ValueError("is not text"), remedy) from None
    except ValueError as error:  # a directory, a pipe or a device
        raise _unreadable(path, error, remedy) from None


def _check_format(
    path: str | os.PathLike[str], value: Any, newest: int
) -> None:
    if not isinstance(value, dict) or "format" not in value:
        return
    _check(value, {"format": int}, "")
    if value["format"] > newest:
        version = value.get("version", "")
        raise UserError(
            f"{path} was written by srmcmc_tf {version} in the format "
            f"{value['format']}; this version reads formats up to {newest}: "
            "use a later one"
        )


def _unreadable(where: object, error: ValueError, remedy: str) -> UserError:
    return UserError(f"{where} is damaged ({reason(error)}); {remedy}")


def _check(value: Any, schema: Schema, where: str) -> None:
    """Raises `ValueError` that names the first wrong place."""
    if isinstance(schema, dict):
        _check(value, dict, where)
        for name in schema:
            if name is not str and name not in value:
                raise ValueError(f"lacks {_place(where, name)}")
        for name, one in value.items():
            inner = schema.get(name, schema.get(str, object))
            _check(one, inner, _place(where, name))
        return
    types = schema if isinstance(schema, tuple) else (schema,)
    found = type(value)  # not isinstance: a bool is an int to Python
    if object in types or found in types or (found is int and float in types):
        return
    words = " or ".join(_WORDS[one] for one in types)
    raise ValueError(f"{where or 'its content'} must be {words}")


def _place(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _not_finite(text: str) -> Any:
    raise ValueError(f"contains {text}")


def _finite(text: str) -> float:
    value = float(text)
    if value - value:  # infinite
        raise ValueError(f"contains {text}")
    return value


def _whole(text: str) -> int:
    if len(text) > 19:  # more than 64 bits
        raise ValueError("contains a number of too many digits")
    return int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("contains a name twice")
    return values

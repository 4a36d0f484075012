"""Command lines: absl's parsing, our types and messages."""

import textwrap
from itertools import zip_longest

from absl import flags

from srmcmc_tf.errors import UserError


def parse(verb, argv, parsers):
    """The values given on a command line, by name.

    Args:
        verb: the file of bin/.
        argv: the arguments after it.
        parsers: a function from text to value for each flag's name; it raises
            `UserError` for a wrong one.

    Returns:
        A dictionary of the flags that were given.
    """
    values = flags.FlagValues()
    for name in parsers:
        flags.DEFINE_string(name, None, "", flag_values=values)
    try:
        rest = values([verb, *argv])[1:]
    except flags.Error as error:
        raise UserError(f"{error} (bin/{verb} --help lists them)") from None
    if rest:
        raise UserError(f"{rest[0]!r}: flags look like --name=value")
    given = {n: values[n].value for n in parsers if values[n].present}
    return {name: parsers[name](text) for name, text in given.items()}


def wants_help(argv):
    """Whether help is asked for, and the other arguments."""
    rest = [arg for arg in argv if arg not in ("--help", "-help", "-h")]
    return len(rest) < len(argv), rest


def line(name, default, text):
    """One flag in a help text, wrapped to 80 columns."""
    left = f"  --{name}={default}"
    lines = textwrap.wrap(text, 46)
    if len(left) > 32:
        lines.insert(0, "")
    pairs = zip_longest([left], lines, fillvalue="")
    return "\n".join(f"{a:<32} {b}".rstrip() for a, b in pairs)

"""Command lines: absl's parsing, our types and messages."""

import pathlib
import textwrap
from itertools import zip_longest

from absl import flags

from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.run import Run

BEST = ("best", "false", "not the newest checkpoint, but --evaluate_every's")


def parse(verb, argv, parsers):
    """The values given on a command line, by name.

    Args:
        verb: the file of bin/.
        argv: the arguments after it.
        parsers: a function from text to value for each flag's name; it raises
            `UserError` for a wrong one. `bool` makes a flag without a value.

    Returns:
        A dictionary of the flags that were given.
    """
    values = flags.FlagValues()
    for name, parser in parsers.items():
        define = flags.DEFINE_bool if parser is bool else flags.DEFINE_string
        define(name, None, "", flag_values=values)
    try:
        rest = values([verb, *argv])[1:]
    except flags.Error as error:
        raise UserError(f"{error} (bin/{verb} --help lists them)") from None
    if rest:
        raise UserError(f"{rest[0]!r}: flags look like --name=value")
    given = {n: values[n].value for n in parsers if values[n].present}
    return {name: parsers[name](text) for name, text in given.items()}


def of_run(verb, argv, text, rows, parsers):
    """The flags of a verb that uses a run; None where help was asked for.

    Args:
        verb: the file of bin/.
        argv: the arguments after it.
        text: what it does, for its help.
        rows: (name, default, text) of its flags beside --workdir and --out.
        parsers: as for `parse`; text is taken as it is where there is none.

    Returns:
        A dictionary of the given flags, with `workdir`.
    """
    asked, argv = wants_help(argv)
    run = ("workdir", "RUN", "a run of bin/train")
    out = ("out", "RUN/generated", "where the files go")
    rows = [run, BEST, *rows]
    rows += [] if any(row[0] == "out" for row in rows) else [out]
    if asked:
        print("\n".join([text, "", *(line(*row) for row in rows)]))
        return None
    parsers = {**{row[0]: str for row in rows}, "best": bool, **parsers}
    given = parse(verb, argv, parsers)
    if "workdir" not in given:
        raise UserError("--workdir=RUN is needed: a run of bin/train")
    # Both before the seconds TensorFlow takes.
    Run(given["workdir"]).config.kind.check_flags(given)
    return given


def need_images(given, name):
    """Refuses a verb or a flag, for its name, to a run that has points."""
    config = Run(given["workdir"]).config
    if config.toy:
        raise UserError(
            f"{name} is for images; {given['workdir']} learned "
            f"{config.dataset}, which are points"
        )


def output(given):
    """The directory that a verb writes to, made where it is missing."""
    path = pathlib.Path(given["workdir"], "generated")
    path = pathlib.Path(given.get("out") or path)
    path.mkdir(parents=True, exist_ok=True)
    return path


def integers(name, low=0, high=2**31 - 1):
    """A parser of whole numbers: `5`, `0-63`, `1,2,7-9`, `0,20,...,200`."""

    def parse(text):
        numbers = []
        parts = text.split(",")
        for i, part in enumerate(parts):
            try:
                if part == "...":
                    step = numbers[-1] - numbers[-2]
                    end = int(parts[i + 1])
                    numbers += range(numbers[-1] + step, end, step)
                elif "-" in part:
                    first, last = map(int, part.split("-"))
                    numbers += range(first, last + 1)
                else:
                    numbers.append(int(part))
            except (ValueError, IndexError):
                numbers = []
                break
        if not numbers or min(numbers) < low or max(numbers) > high:
            raise UserError(
                f"--{name}={text}: must be whole numbers from {low:,} to "
                f"{high:,}, such as 5, 0-63, 1,2,7-9 or 0,20,...,200"
            )
        return numbers

    return parse


def integer(name, low, high):
    """A parser of one whole number."""

    def parse(text):
        try:
            if low <= int(text) <= high:
                return int(text)
        except ValueError:
            pass
        raise UserError(
            f"--{name}={text}: must be a whole number, {low:,} to {high:,}"
        )

    return parse


def choice(name, choices, text):
    """A parser of one word out of several."""
    if text not in choices:
        raise UserError(f"--{name}={text}: must be one of {', '.join(choices)}")
    return text


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

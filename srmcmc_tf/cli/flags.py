"""The flags of a command: parsing, defaults, ranges and help in one record.

absl parses the command line; types and messages are defined here and in
`parsers`.
"""

import textwrap
import types
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from absl import flags as absl_flags

from srmcmc_tf.cli import app, failure
from srmcmc_tf.cli.parsers import Parser, Refusal, switch
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import source as sources
from srmcmc_tf.runs.source import Source


class Flag(NamedTuple):
    """One flag of a command.

    Attributes:
        name: without the dashes.
        default: as it would be written on the command line, or None.
        help: what it means.
        parse: text to value; raises `Refusal` for text that is not allowed.
        placeholder: shown in the help if there is no default.
        required: whether it must be given.
        group: heading above it in the help.
    """

    name: str
    default: str | None
    help: str
    parse: Parser = str
    placeholder: str = ""
    required: bool = False
    group: str = ""

    def value(self, text: str) -> Any:
        """Returns the value of a text; `UserError` if it is not allowed."""
        try:
            return self.parse(text)
        except Refusal as refusal:
            raise UserError(f"--{self.name}={text}: {refusal}") from None

    def line(self) -> str:
        """Returns its line in the help, wrapped to 80 columns."""
        shown = self.placeholder if self.default is None else self.default
        left = f"  --{self.name}={shown}"
        lines = textwrap.wrap(self.help, 46)
        if len(left) > 32:
            lines.insert(0, "")
        pairs = zip_longest([left], lines, fillvalue="")
        return "\n".join(f"{a:<32} {b}".rstrip() for a, b in pairs)


class Command(NamedTuple):
    """What can be written after the name of a command.

    Attributes:
        name: its file in bin/.
        description: the beginning of its help.
        flags: its flags, in the order of the help.
        operands: the words that may be given beside flags.
        epilog: the end of its help.
        hints: what to write instead of a flag it does not have, by name.
    """

    name: str
    description: str
    flags: tuple[Flag, ...]
    operands: tuple[str, ...] = ()
    epilog: str = ""
    hints: Mapping[str, str] = types.MappingProxyType({})

    def help(self) -> str:
        """Returns its help, wrapped to 80 columns."""
        lines, group = [self.description], None
        for flag in self.flags:
            if flag.group != group:
                group = flag.group
                lines += ["", f"{group}:"] if group else [""]
            lines.append(flag.line())
        return "\n".join([*lines, *(["", self.epilog] if self.epilog else [])])


class Arguments(types.SimpleNamespace):
    """The values of all flags, as attributes.

    Attributes:
        given: the values of the flags on the command line, by name.
        operands: the other words on the command line.
    """

    given: dict[str, Any]
    operands: list[str]


def parse(
    command: Command,
    argv: list[str],
    help_of: Callable[[Arguments], Command] | None = None,
) -> Arguments:
    """Parses a command line; prints the help and exits where it asks for it.

    Args:
        command: the command.
        argv: the arguments after its name.
        help_of: returns the command whose help is shown, if that depends on
            the flags.

    Returns:
        The values, defaults included. `UserError` for a wrong argument.
    """
    rest = [arg for arg in argv if arg not in ("--help", "-help", "-h")]
    arguments = _values(command, rest)
    if len(rest) < len(argv):
        shown = help_of(arguments) if help_of else command
        failure.print_last(shown.help() + "\n")
        raise SystemExit(0)
    for flag in command.flags:
        if flag.required and flag.name not in arguments.given:
            raise UserError(
                f"--{flag.name}={flag.placeholder} is needed: {flag.help}"
            )
    return arguments


def _values(command: Command, argv: list[str]) -> Arguments:
    parsed = absl_flags.FlagValues()
    parsed.set_gnu_getopt(True)  # flags may follow operands
    for flag in command.flags:
        switched = flag.parse is switch
        define = (
            absl_flags.DEFINE_bool if switched else absl_flags.DEFINE_string
        )
        define(flag.name, None, "", flag_values=parsed)
    try:
        operands = parsed([command.name, *argv])[1:]
    except absl_flags.Error as error:
        hint = f"bin/{command.name} --help lists them"
        if isinstance(error, absl_flags.UnrecognizedFlagError):
            hint = command.hints.get(error.flagname, hint)
        raise UserError(f"{error} ({hint})") from None
    for word in operands:
        if not command.operands:
            raise UserError(f"{word!r}: flags look like --name=value")
        if word not in command.operands:
            names = ", ".join(command.operands)
            raise UserError(f"{word!r}: must be one of {names}")
    values: dict[str, Any] = {}
    given: dict[str, Any] = {}
    for flag in command.flags:
        found: Any = parsed[flag.name].value
        if not parsed[flag.name].present:
            default = flag.default
            values[flag.name] = None if default is None else flag.value(default)
        else:  # absl has parsed a switch already
            given[flag.name] = (
                found if flag.parse is switch else flag.value(found)
            )
    return Arguments(**values, **given, given=given, operands=operands)


WORKDIR = Flag("workdir", None, "a run of bin/train", placeholder="RUN")
MODEL_FILE = Flag(
    "model_file",
    None,
    "or a model that model.save wrote",
    placeholder="MODEL.keras",
)
PRESET = Flag(
    "preset",
    None,
    "or a trained model of the package, or the path of one of your own",
    placeholder="NAME",
)
BEST = Flag(
    "best",
    "false",
    "use the best checkpoint (--evaluate_every), not the newest",
    switch,
)
INCEPTION = Flag(
    "inception",
    "",
    "weights of Inception: classify_image_graph_def.pb, its archive or an npz; "
    "else they are downloaded",
)
OUT = Flag("out", None, "where the files go", placeholder="RUN/generated")


def open_source(arguments: Arguments) -> Source:
    """Returns the run, the model file or the preset of a command line.

    `UserError` unless there is exactly one, or if a flag means nothing to its
    model.
    """
    source = sources.open_source(
        arguments.workdir, arguments.model_file, arguments.preset
    )
    source.kind.check_flags(arguments.given)
    if arguments.best and not arguments.workdir:
        raise UserError(f"--best is for runs: {source} is a single model")
    if arguments.model_file:
        app.import_tensorflow()  # what it draws is known after it is loaded
    return source


def require_images(source: Source, name: str) -> None:
    """Raises `UserError` if a model draws points, which `name` cannot use."""
    if source.points:
        raise UserError(f"{name} is for images; {source} learned points")

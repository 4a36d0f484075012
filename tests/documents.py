"""The documents of the project, and what is written in them."""

import re
import shlex
from typing import NamedTuple

from helpers import ROOT

DOCS = ROOT / "docs"
DOCUMENTS = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


class Block(NamedTuple):
    """A fenced block.

    Attributes:
        name: document and line, for the name of a test.
        language: what follows the fence, or "".
        text: its content.
    """

    name: str
    language: str
    text: str


def blocks(*languages):
    """All fenced blocks of some languages."""
    found = []
    for path in DOCUMENTS:
        text = path.read_text()
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M):
            line = text[: match.start()].count("\n") + 1
            found.append(Block(f"{path.name}:{line}", *match.groups()))
    return [b for b in found if not languages or b.language in languages]


def commands():
    """All lines `bin/NAME ...` of blocks, and those in the text with flags."""
    fenced = [
        line
        for block in blocks("")
        for line in block.text.replace("\\\n", " ").splitlines()
        if re.match(r"(\w+='.*' +)?bin/", line)
    ]
    inline = [
        " ".join(code.split())
        for path in DOCUMENTS
        for code in re.findall(r"`(bin/\w+ [^`]+)`", prose(path))
    ]
    lines = [shlex.join(shlex.split(line, True)) for line in fenced + inline]
    return list(dict.fromkeys(lines))


def prose(path):
    """A document without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.S | re.M)

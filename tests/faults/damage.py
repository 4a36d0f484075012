"""Ways to damage a file, as functions of a seed."""

import re
import shutil


def _flip(content, random):
    content = bytearray(content)
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return bytes(content)


def _insert(content, random):
    place = random.randrange(len(content))
    return content[:place] + random.randbytes(3) + content[place:]


DAMAGES = {
    "empty": lambda content, random: b"",
    "half": lambda content, random: content[: len(content) // 2],
    "cut": lambda content, random: content[: random.randrange(len(content))],
    "flip": _flip,
    "insert": _insert,
    "random": lambda content, random: random.randbytes(len(content)),
    "zeros": lambda content, random: bytes(len(content)),
    "null": lambda content, random: b"null\n",
    "list": lambda content, random: b"[]\n",
    "object": lambda content, random: b"{}\n",
    "nan": lambda content, random: re.sub(
        rb": -?\d[\d.e-]*", b": NaN", content
    ),
    "true": lambda content, random: re.sub(
        rb": -?\d[\d.e-]*", b": true", content
    ),
    "huge": lambda content, random: re.sub(
        rb": -?\d[\d.e-]*", b": 1e999", content
    ),
    "texts": lambda content, random: re.sub(
        rb": -?\d[\d.e-]*", rb': "\\ud800"', content
    ),
}


def apply(name, path, random):
    """Damages a file; "missing" and "directory" replace it."""
    if name in ("missing", "directory"):
        path.unlink()
        if name == "directory":
            path.mkdir()
        return
    path.write_bytes(DAMAGES[name](path.read_bytes(), random))


ALL = (*DAMAGES, "missing", "directory")


def contents(folder):
    """The bytes of all files below a folder, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def copy(source, target):
    """A copy of a run to damage."""
    shutil.copytree(source, target)
    return target

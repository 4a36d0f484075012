"""A folder of images, or of one folder of images per class."""

import os
import pathlib
from collections.abc import Iterable, Iterator

from srmcmc_tf.data.sources import Entry, Source
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import digests, paths


def source(path: pathlib.Path) -> Source:
    """Returns all files below a folder, except hidden ones, in order.

    Where all files are in two or more subfolders, these are their labels, in
    the order of the names.
    """
    files = sorted(_files(os.fspath(path), ()))
    if not files:
        raise UserError(f"{paths.shown(path)} holds no files; put images there")
    listing = "".join(f"{file} {_stamp(file)}\n" for file in files)
    folders = [_subfolder(file, path) for file in files]
    names = sorted(set(folders))
    labels = {name: i for i, name in enumerate(names)}
    if "" in labels or len(labels) < 2:
        names, labels = [], {}

    def read(indices: Iterable[int]) -> Iterator[Entry]:
        for i in indices:
            file = files[i]
            label = labels.get(folders[i])
            yield Entry(i, paths.shown(file), pathlib.Path(file), label)

    shown = tuple(map(paths.shown, names))
    return Source(len(files), digests.of_text(listing), read, shown)


def _files(directory: str, above: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """Everything below a directory but directories; follows links."""
    try:
        state = os.stat(directory)
        here = (state.st_dev, state.st_ino)
        if here in above:  # a link to a directory that contains it
            return
        entries = list(os.scandir(directory))
    except OSError as error:
        raise UserError(
            f"{paths.shown(directory)} cannot be read ({error.strerror}); "
            "allow it, or move it elsewhere"
        ) from None
    for entry in entries:
        if os.path.isdir(entry.path):
            yield from _files(entry.path, (*above, here))
        elif not entry.name.startswith("."):
            yield entry.path


def _stamp(file: str) -> str:
    try:
        return paths.stamp(file)
    except OSError:  # a broken link: named when it is read
        return ""


def _subfolder(file: str, path: pathlib.Path) -> str:
    """The name of the subfolder of `path` that a file is in, or nothing."""
    first, *rest = os.path.relpath(file, path).split(os.sep)
    return first if rest else ""

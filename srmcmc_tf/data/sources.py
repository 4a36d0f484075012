"""Where images come from: a folder, TFDS, LSUN's lmdb, scikit-learn.

A source is a `Source`: how many images it has, a name for its contents, and a
function that reads some of them. `examples.load` chooses, decodes and caches.
"""

import os
import pathlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from srmcmc_tf.config.config import Config
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import digests

Entry = tuple[int, str, Any]


class Source(NamedTuple):
    """A numbered collection of images.

    Attributes:
        size: number of entries, readable or not.
        identity: text that changes when the contents do.
        read: indices, in increasing order, to (index, name, content) triples,
            lazily; the content is a file's path, its bytes, or a uint8 array
            [h, w, c].
    """

    size: int
    identity: str
    read: Callable[[Iterable[int]], Iterable[Entry]]


def find(config: Config) -> Source:
    """Returns the source of a config; `UserError` where it is missing."""
    path = None
    if config.data_dir:
        path = pathlib.Path(config.data_dir).expanduser()
        if not path.is_dir():
            raise UserError(
                f"--data_dir={config.data_dir}: no such directory; if you "
                "moved the images: `bin/train --workdir=RUN --data_dir=PATH`"
            )
    return READERS[config.data.reader](config, path)


def folder(path: pathlib.Path) -> Source:
    """Returns all files below a folder, except hidden ones, in order."""
    files = sorted(
        os.path.join(directory, name)
        for directory, _, names in os.walk(path)
        for name in names
        if not name.startswith(".")
        and os.path.isfile(os.path.join(directory, name))
    )
    if not files:
        raise UserError(f"{path} holds no files; put the images there")
    stats = [(file, os.stat(file)) for file in files]
    listing = "".join(
        f"{file} {stat.st_size} {stat.st_mtime_ns}\n" for file, stat in stats
    )

    def read(indices: Iterable[int]) -> Iterator[Entry]:
        return ((i, files[i], pathlib.Path(files[i])) for i in indices)

    return Source(len(files), digests.of_text(listing), read)


def chosen(
    entries: Iterable[tuple[str, Any]], indices: Iterable[int]
) -> Iterator[Entry]:
    """Yields some entries of a sequence that can only be read in order."""
    wanted = iter(indices)
    want = next(wanted, None)
    for i, (name, content) in enumerate(entries):
        if i == want:
            yield i, name, content
            want = next(wanted, None)
        if want is None:
            return


def _digits(config: Config, path: pathlib.Path | None) -> Source:
    from srmcmc_tf.data import digits  # scikit-learn takes a second

    if path:
        raise UserError(
            "--data_dir: the digits are embedded; for images of your own add "
            "--dataset=folder"
        )
    images = digits.load()[0][..., np.newaxis]
    return Source(
        len(images),
        "scikit-learn",
        lambda indices: ((i, f"digit {i}", images[i]) for i in indices),
    )


def _folder(config: Config, path: pathlib.Path | None) -> Source:
    if not path:
        raise UserError("--dataset=folder needs --data_dir=FOLDER")
    return folder(path)


def _lsun(config: Config, path: pathlib.Path | None) -> Source:
    from srmcmc_tf.data import lsun

    return lsun.source(path)


def _tfds(config: Config, path: pathlib.Path | None) -> Source:
    from srmcmc_tf.data import tfds_source  # TFDS takes seconds

    return tfds_source.source(config.data.tfds, path)


def _celeb_a(config: Config, path: pathlib.Path | None) -> Source:
    from srmcmc_tf.data import tfds_source

    if path and not tfds_source.is_prepared(path, config.data.tfds):
        return folder(path)
    return _tfds(config, path)


# By `Dataset.reader`.
READERS: dict[str, Callable[[Config, pathlib.Path | None], Source]] = {
    "digits": _digits,
    "folder": _folder,
    "lsun": _lsun,
    "tfds": _tfds,
    "celeb_a": _celeb_a,
}

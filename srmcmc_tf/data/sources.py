"""Where images come from: a folder, TFDS, LSUN's lmdb, scikit-learn.

A source is a `Source`: how many images it has, a name for its contents, and a
function that reads some of them. `examples.load` chooses, decodes and caches.
"""

import pathlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from srmcmc_tf.config.config import Config
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import paths

T = TypeVar("T")


class Entry(NamedTuple):
    """One image of a source.

    Attributes:
        number: its index in the source.
        name: for messages.
        content: a file's path, its bytes, or a uint8 array [h, w, c].
        label: the number of its class; None if it has none.
    """

    number: int
    name: str
    content: Any
    label: int | None = None


class Source(NamedTuple):
    """A numbered collection of images.

    Attributes:
        size: number of entries, readable or not.
        identity: text that changes when the contents do.
        read: indices, in increasing order, to entries, lazily.
        label_names: of the classes, in order; none without labels.
    """

    size: int
    identity: str
    read: Callable[[Iterable[int]], Iterable[Entry]]
    label_names: tuple[str, ...] = ()


def find(config: Config) -> Source:
    """Returns the source of a config; `UserError` where it is missing."""
    path = None
    if config.data_dir:
        path = paths.expanded(config.data_dir)
        if not path.is_dir():
            raise UserError(
                f"--data_dir={paths.shown(path)}: no such directory; if you "
                "moved the images: `bin/train --workdir=RUN --data_dir=PATH`"
            )
    return READERS[config.data.reader](config, path)


def chosen(
    items: Iterable[T], indices: Iterable[int]
) -> Iterator[tuple[int, T]]:
    """Yields some items of a sequence that can only be read in order."""
    wanted = iter(indices)
    want = next(wanted, None)
    for i, item in enumerate(items):
        if i == want:
            yield i, item
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
    images, labels = digits.load()
    return Source(
        len(images),
        "scikit-learn",
        lambda indices: (
            Entry(i, f"digit {i}", images[i, ..., None], int(labels[i]))
            for i in indices
        ),
        tuple("0123456789"),
    )


def _folder(config: Config, path: pathlib.Path | None) -> Source:
    if not path:
        raise UserError("--dataset=folder needs --data_dir=FOLDER")
    from srmcmc_tf.data import folder

    return folder.source(path)


def _lsun(config: Config, path: pathlib.Path | None) -> Source:
    from srmcmc_tf.data import lsun

    return lsun.source(path)


def _tfds(config: Config, path: pathlib.Path | None) -> Source:
    from srmcmc_tf.data import tfds_source  # TFDS takes seconds

    if not config.data.tfds:
        raise UserError(
            "--dataset=tfds needs a name, as --dataset=tfds:oxford_flowers102"
        )
    return tfds_source.source(config.data.tfds, path)


def _celeb_a(config: Config, path: pathlib.Path | None) -> Source:
    from srmcmc_tf.data import folder, tfds_source

    if path and not tfds_source.is_prepared(path, config.data.tfds):
        return folder.source(path)
    return _tfds(config, path)


# By `Dataset.reader`.
READERS: dict[str, Callable[[Config, pathlib.Path | None], Source]] = {
    "digits": _digits,
    "folder": _folder,
    "lsun": _lsun,
    "tfds": _tfds,
    "celeb_a": _celeb_a,
}

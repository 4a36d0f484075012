"""LSUN bedrooms: the published lmdb, or a folder of images."""

import os
import pathlib
from collections.abc import Iterable, Iterator

import lmdb

from srmcmc_tf.data import sources, tfds_source
from srmcmc_tf.data.sources import Entry, Source
from srmcmc_tf.errors import UserError


def source(path: pathlib.Path | None) -> Source:
    """Returns the bedrooms at `path`, by default next to TFDS's datasets."""
    path = path or tfds_source.directory() / "lsun_bedroom"
    for place in (path, path / "bedroom_train_lmdb"):
        if (place / "data.mdb").exists():
            return _lmdb(place)
    if path.is_dir():
        return sources.folder(path)
    raise UserError(
        "lsun_bedroom has to be downloaded by hand: get "
        "http://dl.yf.io/lsun/scenes/bedroom_train_lmdb.zip (43 GB) and "
        f"unpack it in {path}, or put a folder of images there; --data_dir "
        "names another place"
    )


def _lmdb(path: pathlib.Path) -> Source:
    try:
        database = lmdb.open(str(path), readonly=True, lock=False)
        size = database.stat()["entries"]
    except lmdb.Error as error:
        raise UserError(f"{path}: not a readable lmdb: {error}") from None

    def entries() -> Iterator[tuple[str, memoryview]]:
        with database.begin(buffers=True) as transaction:
            for key, value in transaction.cursor():
                yield bytes(key).decode(errors="replace"), value

    def read(indices: Iterable[int]) -> Iterator[Entry]:
        # Keys are in order but not numbered: one walk that skips some.
        for i, name, value in sources.chosen(entries(), indices):
            yield i, name, bytes(value)

    return Source(size, f"{path} {os.path.getsize(path / 'data.mdb')}", read)

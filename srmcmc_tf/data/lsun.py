"""LSUN bedrooms: the published lmdb, or a folder of images."""

import os
import pathlib
from collections.abc import Iterable, Iterator

from srmcmc_tf.data import folder, sources, tfds_source
from srmcmc_tf.data.sources import Entry, Source
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import paths
from srmcmc_tf.files.lmdb_file import LmdbFile


def source(path: pathlib.Path | None) -> Source:
    """Returns the bedrooms at `path`, by default next to TFDS's datasets."""
    path = path or tfds_source.directory() / "lsun_bedroom"
    for place in (path, path / "bedroom_train_lmdb"):
        if (place / "data.mdb").exists():
            return _lmdb(place)
    if path.is_dir():
        return folder.source(path)
    raise UserError(
        "lsun_bedroom has to be downloaded by hand: get "
        "http://dl.yf.io/lsun/scenes/bedroom_train_lmdb.zip (43 GB) and "
        f"unpack it in {path}, or put a folder of images there; --data_dir "
        "names another place"
    )


def _lmdb(path: pathlib.Path) -> Source:
    file = path / "data.mdb"

    def checked(error: Exception) -> UserError:
        return UserError(
            f"{paths.shown(file)}: not a readable lmdb ({error}); remove it "
            "and start again, or unpack its archive again"
        )

    try:
        database = LmdbFile(file)
    except (OSError, ValueError) as error:
        raise checked(error) from None

    def read(indices: Iterable[int]) -> Iterator[Entry]:
        try:
            # The whole tree is walked, and known to be complete, before the
            # first image is read.
            wanted = list(sources.chosen(database.values(), indices))
            for i, (key, value) in wanted:
                name = paths.shown(os.fsdecode(key))
                yield Entry(i, name, database.read(value))
        except (OSError, ValueError) as error:
            raise checked(error) from None

    return Source(database.size, f"{path} {paths.stamp(file)}", read)

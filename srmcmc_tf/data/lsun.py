"""LSUN bedrooms: the published lmdb, downloaded, or a folder of images."""

import http.client
import logging
import os
import pathlib
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator

from tqdm import tqdm

from srmcmc_tf.data import folder, sources, tfds_source
from srmcmc_tf.data.sources import Entry, Source
from srmcmc_tf.errors import UserError, reason
from srmcmc_tf.files import atomic, digests, download, paths
from srmcmc_tf.files.lmdb_file import LmdbFile

logger = logging.getLogger(__name__)

URL = "http://dl.yf.io/lsun/scenes/bedroom_train_lmdb.zip"
_NAME = "bedroom_train_lmdb"
_ZIP = f"{_NAME}.zip"
_CHUNK = 2**22


def source(path: pathlib.Path | None) -> Source:
    """Returns the bedrooms at `path`, by default next to TFDS's datasets.

    An empty or missing directory is filled by a download of 43 GB.
    """
    path = path or tfds_source.directory() / "lsun_bedroom"
    if not _place(path) and not _has_images(path):
        try:
            with download.exclusive(path):
                if not _place(path):  # another worker may have been first
                    _download(path)
        except (OSError, http.client.HTTPException, _NoSpace) as error:
            raise UserError(
                f"lsun_bedroom has to be downloaded by hand ({reason(error)}): "
                f"get {URL} (43 GB) and unpack it in {paths.shown(path)}, or "
                "put a folder of images there; --data_dir names another place"
            ) from None
    place = _place(path)
    return _lmdb(place) if place else folder.source(path)


def _place(path: pathlib.Path) -> pathlib.Path | None:
    """The directory of the lmdb."""
    places = (path, path / _NAME)
    return next((p for p in places if (p / "data.mdb").exists()), None)


def _has_images(path: pathlib.Path) -> bool:
    """Whether there is anything but the archive and hidden files."""
    if not path.is_dir():
        return False
    names = [name for name in os.listdir(path) if not name.startswith(".")]
    return any(name != _ZIP for name in names)


class _NoSpace(Exception):
    """The disk is too small."""


def _download(path: pathlib.Path) -> None:
    """Downloads the archive, unless it is there, and unpacks it."""

    def announce(total: int, present: int) -> None:
        # The archive, and what is unpacked from it: images hardly compress.
        _check_space(path, 2 * total - present)
        logger.info(
            "lsun_bedroom: downloading %s (%.1f GB, %.1f GB are present) to "
            "%s; if it is interrupted, the same command resumes it",
            URL,
            total / 1e9,
            present / 1e9,
            paths.shown(path),
        )

    atomic.remove_leftovers(path)
    archive = path / _ZIP
    download.fetch(URL, archive, announce=announce)
    try:
        _unpack(archive, path / _NAME)
    except (EOFError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(
            f"{paths.shown(archive)} is damaged ({reason(error)}); remove it "
            "and start again"
        ) from None
    archive.unlink()


def _unpack(archive: pathlib.Path, place: pathlib.Path) -> None:
    """Unpacks the lmdb; the checksum is verified at its end."""
    with zipfile.ZipFile(archive) as file:
        members = [
            m for m in file.infolist() if m.filename.endswith("data.mdb")
        ]
        if len(members) != 1:
            raise ValueError("it holds no data.mdb")
        size = members[0].file_size
        _check_space(place.parent, size)
        with (
            atomic.directory(place) as directory,
            file.open(members[0]) as packed,
            open(directory / "data.mdb", "xb") as out,
            tqdm(
                total=size, desc=f"unpacking {_NAME}", unit="B", unit_scale=True
            ) as bar,
        ):
            while chunk := packed.read(_CHUNK):
                out.write(chunk)
                bar.update(len(chunk))
            out.flush()
            for _ in LmdbFile(directory / "data.mdb").values():
                pass  # every entry lies inside the file


def _check_space(path: pathlib.Path, needed: int) -> None:
    free = shutil.disk_usage(path).free
    if free < needed:
        raise _NoSpace(
            f"needs {needed / 1e9:,.1f} GB of disk space in "
            f"{paths.shown(path)}, {free / 1e9:,.1f} GB are free"
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

    # Not every file system keeps the times that the stamp is made of.
    identity = f"{path} {paths.stamp(file)} {digests.of_file_parts(file)}"
    return Source(database.size, identity, read)

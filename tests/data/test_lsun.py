import io
import os
import shutil
import zipfile

import lmdb
import numpy as np
import pytest
from helpers import random_images
from loopback import Loopback
from PIL import Image

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples, lsun
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import download


def png(image):
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "PNG")
    return buffer.getvalue()


def write_lmdb(folder, images):
    folder.mkdir(parents=True, exist_ok=True)
    with lmdb.open(str(folder), map_size=2**24) as database:
        with database.begin(write=True) as transaction:
            for i, image in enumerate(images):
                transaction.put(f"{i:08x}".encode(), png(image))


def config(path):
    return Config(
        dataset="lsun_bedroom", data_dir=str(path), image_size=8, batch_size=8
    )


def rows(images):
    return sorted(map(bytes, images))


@pytest.mark.parametrize("inside", ["", "bedroom_train_lmdb"])
def test_lsun_is_read_from_its_lmdb(tmp_path, inside):
    images = random_images(30, 8, 3)
    write_lmdb(tmp_path / inside, images)
    found = examples.load(config(tmp_path))
    assert rows(np.concatenate(found[:2])) == rows(images)


def test_an_lmdb_rebuilt_with_the_same_size_is_read_again(tmp_path):
    images = np.full([30, 8, 8, 3], 7, np.uint8)
    write_lmdb(tmp_path / "lsun", images)
    examples.load(config(tmp_path / "lsun"))
    state = (tmp_path / "lsun" / "data.mdb").stat()
    shutil.rmtree(tmp_path / "lsun")
    write_lmdb(tmp_path / "lsun", images + 1)
    path = tmp_path / "lsun" / "data.mdb"
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert path.stat().st_size == state.st_size
    assert (examples.load(config(tmp_path / "lsun")).observed == 8).all()


def test_a_rebuilt_lmdb_is_noticed_by_its_content_alone(tmp_path, monkeypatch):
    # As on a file system whose times say nothing.
    monkeypatch.setattr(lsun.paths, "stamp", lambda file: "unknown")
    images = np.full([30, 8, 8, 3], 7, np.uint8)
    write_lmdb(tmp_path / "lsun", images)
    examples.load(config(tmp_path / "lsun"))
    shutil.rmtree(tmp_path / "lsun")
    write_lmdb(tmp_path / "lsun", images + 1)
    assert (examples.load(config(tmp_path / "lsun")).observed == 8).all()


def test_an_incomplete_or_damaged_lmdb_is_one_line(tmp_path):
    write_lmdb(tmp_path, random_images(30, 64, 3))
    path = tmp_path / "data.mdb"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match="data.mdb: .*it is incomplete"):
        examples.load(config(tmp_path))
    path.write_bytes(content[:8192] + bytes(len(content) - 8192))
    with pytest.raises(UserError, match="data.mdb: .*damaged"):
        examples.load(config(tmp_path))
    path.write_bytes(b"text")
    with pytest.raises(UserError, match="data.mdb: .*not an lmdb"):
        examples.load(config(tmp_path))


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A server of an archive of 30 bedrooms, as the published one is made."""
    write_lmdb(tmp_path / "bedroom_train_lmdb", random_images(30, 8, 3))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name in ("data.mdb", "lock.mdb"):
            place = f"bedroom_train_lmdb/{name}"
            file.write(tmp_path / place, place)
    shutil.rmtree(tmp_path / "bedroom_train_lmdb")
    monkeypatch.setattr(download, "_WAIT", 0.0)
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path / "tfds"))
    with Loopback(archive.getvalue()).running() as server:
        monkeypatch.setattr(lsun, "URL", server.url)
        yield server


def small(**settings):
    return Config(
        dataset="lsun_bedroom", image_size=8, batch_size=8, **settings
    )


def test_a_missing_lsun_is_announced_downloaded_and_unpacked(
    published, tmp_path, caplog
):
    size = len(published.content)
    published.drops = [size // 3, 0, size // 3]
    found = examples.load(small())
    assert rows(np.concatenate(found[:2])) == rows(random_images(30, 8, 3))
    assert f"downloading {published.url} (0.0 GB" in caplog.text
    place = tmp_path / "tfds" / "lsun_bedroom"
    names = [str(p.relative_to(place)) for p in sorted(place.rglob("*"))]
    assert names == ["bedroom_train_lmdb", "bedroom_train_lmdb/data.mdb"]
    requests = len(published.requests)
    assert requests == 4 and all(published.requests[1:])
    examples.load(small(n_examples=20))
    assert len(published.requests) == requests


def test_a_download_that_breaks_off_is_resumed_by_the_next_start(published):
    size = len(published.content)
    published.drops = [size // 2] + 9 * [0]
    with pytest.raises(UserError, match="by hand .connection closed after"):
        examples.load(small())
    published.drops = []
    assert len(examples.load(small()).observed) == 24
    assert published.requests[-1] == f"bytes={size // 2 - 1}-"


def test_without_disk_space_nothing_is_downloaded(
    published, tmp_path, monkeypatch
):
    free = 2 * len(published.content) - 1
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(lsun.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(
        UserError, match="by hand .needs .* disk space"
    ) as error:
        examples.load(small())
    assert "\n" not in str(error.value) and "43 GB" in str(error.value)
    assert not [p for p in (tmp_path / "tfds").rglob("*") if p.is_file()]


def test_a_damaged_archive_is_noticed_and_leaves_nothing_unpacked(
    published, tmp_path
):
    content = bytearray(published.content)
    content[len(content) // 2] ^= 1
    published.content = bytes(content)
    with pytest.raises(UserError, match="lmdb.zip is damaged.*remove it"):
        examples.load(small())
    place = tmp_path / "tfds" / "lsun_bedroom"
    assert [p.name for p in place.iterdir()] == ["bedroom_train_lmdb.zip"]


def test_an_archive_downloaded_by_hand_is_unpacked(published, tmp_path):
    (tmp_path / "mine").mkdir()
    archive = tmp_path / "mine" / "bedroom_train_lmdb.zip"
    archive.write_bytes(published.content)
    found = examples.load(small(data_dir=str(tmp_path / "mine")))
    assert len(found.observed) == 24 and published.requests == []


def test_missing_lsun_says_what_to_download(tmp_path, monkeypatch):
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(
        lsun, "URL", "http://127.0.0.1:1/bedroom_train_lmdb.zip"
    )
    with pytest.raises(UserError, match="by hand .*bedroom_train_lmdb.zip"):
        examples.load(Config(dataset="lsun_bedroom"))

import io
import os
import shutil

import lmdb
import numpy as np
import pytest
from helpers import random_images
from PIL import Image

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples
from srmcmc_tf.errors import UserError


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


def test_missing_lsun_says_what_to_download():
    with pytest.raises(UserError, match="bedroom_train_lmdb.zip"):
        examples.load(Config(dataset="lsun_bedroom"))

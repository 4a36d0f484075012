import io

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


@pytest.mark.parametrize("inside", ["", "bedroom_train_lmdb"])
def test_lsun_is_read_from_its_lmdb(tmp_path, inside):
    images = random_images(30, 8, 3)
    database = lmdb.open(str(tmp_path / inside), map_size=2**24)
    with database.begin(write=True) as transaction:
        for i, image in enumerate(images):
            transaction.put(f"{i:08x}".encode(), png(image))
    database.close()
    config = Config(
        dataset="lsun_bedroom",
        data_dir=str(tmp_path),
        image_size=8,
        batch_size=8,
    )
    read = np.concatenate(examples.load(config)).reshape(30, -1)
    assert sorted(map(bytes, read)) == sorted(
        map(bytes, images.reshape(30, -1))
    )


def test_missing_lsun_says_what_to_download():
    with pytest.raises(UserError, match="bedroom_train_lmdb.zip"):
        examples.load(Config(dataset="lsun_bedroom"))

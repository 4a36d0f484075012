import struct
import time
import zlib

import numpy as np
import pytest
import tensorflow as tf
from demo_client import b64, post
from helpers import random_images
from werkzeug.exceptions import BadRequest

from srmcmc_tf.serving import png_files
from srmcmc_tf.serving.inputs import PNG_HEAD, Inputs, Limits, largest_png

SHAPE = (8, 8, 1)


def chunk(kind, content):
    crc = zlib.crc32(kind + content)
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", crc)
    )


def png(image, *more, beyond=0):
    """An 8x8 gray PNG, with chunks and compressed bytes beyond its image."""
    header = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    compress = zlib.compressobj(9)
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    data = compress.compress(rows)
    for _ in range(beyond // 2**20):
        data += compress.compress(bytes(2**20))
    data += compress.flush()
    chunks = [chunk(b"IHDR", header), *more, chunk(b"IDAT", data)]
    return PNG_HEAD + b"".join(chunks) + chunk(b"IEND", b"")


def opened(*files):
    return png_files.opened(tf.constant(list(files)), SHAPE, 64)


def test_images_stay_and_all_else_is_removed():
    (image,) = random_images(1)
    text = chunk(b"tEXt", b"Comment\0" + b"x" * 5000)
    (clean,) = opened(png(image, text)).numpy()
    np.testing.assert_array_equal(tf.io.decode_png(clean), image)
    assert b"tEXt" not in clean and len(clean) < 1000


def test_hidden_data_are_not_decompressed():
    (image,) = random_images(1)
    hidden = png(image, beyond=2**23)  # 8 MB in 8 KB, fewer than are allowed
    assert len(hidden) <= largest_png(8, 8)
    (clean,) = opened(hidden).numpy()
    np.testing.assert_array_equal(tf.io.decode_png(clean), image)
    start = time.process_time()
    for _ in range(10):
        opened(hidden)
    assert time.process_time() - start < 0.2  # 0.5 s in TensorFlow


def test_a_file_with_770_mb_beside_its_image_is_rejected_at_once(client):
    (image,) = random_images(1)
    file = png(image, beyond=770 * 2**20)
    assert len(file) > 700_000
    request = {
        "signature_name": "energy_png",
        "inputs": {"png_bytes": [{"b64": b64(file)}]},
    }
    start = time.process_time()
    response = post(client, request)
    assert time.process_time() - start < 0.5  # 4.4 s in TensorFlow
    assert response.status_code == 400
    assert "8x8 pixels and at most 17,024 bytes" in response.json["error"]


def test_the_signature_itself_rejects_long_files():
    (image,) = random_images(1)
    file = png(image) + bytes(2**15)
    inputs = Inputs(SHAPE, Limits(4, 10, 10))
    with pytest.raises(tf.errors.InvalidArgumentError, match="17024 bytes"):
        inputs.png_bytes(tf.constant([file]))


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"GIF89a",
        PNG_HEAD,
        PNG_HEAD + bytes(100),
        png(random_images(1)[0])[:-30],
        tf.io.encode_png(random_images(1, size=16)[0]).numpy(),
        tf.io.encode_png(np.zeros([4, 16, 1], np.uint8)).numpy(),
        tf.io.encode_jpeg(random_images(1)[0]).numpy(),
    ],
)
def test_other_files_are_explained(file):
    with pytest.raises(BadRequest) as error:
        opened(file)
    assert error.match("png_bytes must be PNG files of 8x8 pixels")
    assert "\n" not in error.value.description


def test_colors_and_transparency_are_as_a_viewer_shows_them():
    pixels = np.zeros([8, 8, 4], np.uint8)  # black, all of it transparent
    (clean,) = opened(tf.io.encode_png(pixels).numpy()).numpy()
    assert (tf.io.decode_png(clean).numpy() == 255).all()


def test_too_many_files_are_not_opened():
    files = tf.constant([b"not a PNG"] * 3)
    assert png_files.opened(files, SHAPE, 2) is files

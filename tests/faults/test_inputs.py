"""Malformed images, lmdbs and requests: read, or refused in one line."""

import io
import random

import lmdb
import numpy as np
import pytest
from faults import damage
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from serving.conftest import client, model  # noqa: F401
from serving.test_rest import REQUESTS, SOME, explained, post

from srmcmc_tf.files import image_file
from srmcmc_tf.files.lmdb_file import LmdbFile

pytestmark = pytest.mark.faults
KINDS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF")
TRIES = 400


def damaged(sound, seed):
    generator = random.Random(seed)
    for _ in range(generator.randint(1, 4)):
        names = ("half", "cut", "flip", "insert", "zeros", "random")
        weights = (1, 2, 20, 5, 1, 1)
        (name,) = generator.choices(names, weights)
        sound = damage.DAMAGES[name](sound or b"x", generator)
    return sound


def read_or_refused(read):
    try:
        return read()
    except ValueError as error:
        assert str(error) and "\n" not in str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_image_is_read_or_refused(kind, count):
    pixels = np.random.default_rng(0).integers(0, 256, (24, 24, 3), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    for i in range(TRIES):
        content = damaged(buffer.getvalue(), f"{kind} {i}")
        read_or_refused(lambda content=content: image_file.read(content, 3))
        count("images tried")


def test_a_damaged_lmdb_is_read_or_refused(tmp_path, count):
    with lmdb.open(str(tmp_path / "sound"), map_size=2**24) as database:
        with database.begin(write=True) as transaction:
            for i in range(200):
                transaction.put(b"%05d" % i, bytes([i]) * i * 9)
    sound = (tmp_path / "sound" / "data.mdb").read_bytes()
    path = tmp_path / "data.mdb"

    def read():
        file = LmdbFile(path)
        return [file.read(value) for _, value in file.values()]

    for i in range(TRIES):
        path.write_bytes(damaged(sound, i))
        read_or_refused(read)
        count("images tried")


def test_malformed_requests_are_answered_or_explained(client, count):  # noqa: F811
    tries = dict(deadline=None, derandomize=True, database=None)

    @settings(max_examples=1_000, **tries)
    @given(REQUESTS | SOME)
    def values(request):
        import json

        explained(post(client, json.dumps(request)))
        count("requests tried")

    @settings(max_examples=1_000, **tries)
    @given(st.binary() | st.text())
    def bodies(body):
        explained(post(client, body))
        count("requests tried")

    values()
    bodies()

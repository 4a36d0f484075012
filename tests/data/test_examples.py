import io
import struct
import zlib

import numpy as np
import pytest
from helpers import SHARED, random_images, write_images
from PIL import Image

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import digits, examples, pixels
from srmcmc_tf.errors import UserError


def folder_config(path, **settings):
    settings = {"image_size": 8, "channels": 1, "batch_size": 8, **settings}
    return Config(dataset="folder", data_dir=str(path), **settings)


def test_digits_are_real_and_split_without_overlap():
    config = Config(image_size=8, channels=1, n_examples=1597, n_left_out=200)
    observed, left_out, _ = examples.load(config)
    assert observed.shape == (1597, 8, 8, 1) and left_out.shape == (
        200,
        8,
        8,
        1,
    )
    assert observed.max() == 255 and observed.min() == 0
    every = np.concatenate([observed, left_out]).reshape(1797, 64)
    assert len(np.unique(every, axis=0)) == 1797


def test_the_cut_does_not_depend_on_the_seed_of_the_run():
    digits = [
        Config(image_size=8, channels=1, n_examples=99, seed=s) for s in (1, 2)
    ]
    a, b = map(examples.load, digits)
    np.testing.assert_array_equal(a.observed, b.observed)


def test_folder_gives_its_images_and_the_second_time_the_cache(
    tmp_path, monkeypatch
):
    images = random_images(50)
    write_images(tmp_path / "a", images[:25])
    write_images(tmp_path / "b", images[25:])
    first = examples.load(folder_config(tmp_path))
    assert len(first.observed) == 40 and len(first.left_out) == 10
    together = np.concatenate(first[:2]).reshape(50, -1)
    assert sorted(map(bytes, together)) == sorted(
        map(bytes, images.reshape(50, -1))
    )

    def never(*args):
        raise AssertionError("read again")

    monkeypatch.setattr(pixels, "square", never)
    second = examples.load(folder_config(tmp_path))
    np.testing.assert_array_equal(first.observed, second.observed)


def test_a_broken_file_is_named_counted_and_skipped(tmp_path, caplog):
    write_images(tmp_path, random_images(199))
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8 no picture")
    images = examples.load(folder_config(tmp_path))
    assert sum(map(len, images[:2])) == 199
    out = caplog.text
    assert "broken.jpg" in out and "1 of 200" in out


def hollow_png(width, height):
    """A PNG that claims a size and has few pixels."""

    def chunk(kind, content):
        crc = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + crc

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + pixels


def test_no_broken_file_gets_through_and_none_stops_the_reading(
    tmp_path, caplog
):
    write_images(tmp_path, random_images(590))
    whole = io.BytesIO()
    Image.fromarray(random_images(1, 64, 3)[0]).save(whole, "JPEG")
    broken = {
        "random.jpg": np.random.default_rng(0).bytes(5000),
        "cut.jpg": whole.getvalue()[:-400],
        "cut.png": (tmp_path / "0000.png").read_bytes()[:60],
        "no_pixels.png": hollow_png(0, 0),
        "huge.png": hollow_png(60_000, 60_000),
    }
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
    # Not broken, only of other kinds: they are converted.
    for mode in ("RGBA", "CMYK", "P", "I;16", "1"):
        suffix = "tif" if mode == "CMYK" else "png"
        Image.new(mode, (9, 7)).save(tmp_path / f"{len(mode)}_{mode}.{suffix}")
    images = examples.load(folder_config(tmp_path))
    assert sum(map(len, images[:2])) == 595
    out = caplog.text
    assert all(name in out for name in broken) and "5 of 600" in out


@pytest.mark.parametrize("content", [b"", b"text", None])
def test_more_than_one_broken_file_in_a_hundred_stops(tmp_path, content):
    write_images(tmp_path, random_images(100))
    png = (tmp_path / "0000.png").read_bytes()
    for i in range(2):  # None: a PNG cut short
        (tmp_path / f"bad{i}.png").write_bytes(
            png[:60] if content is None else content
        )
    with pytest.raises(UserError, match="bad1.png.*more than 1 in 100"):
        examples.load(folder_config(tmp_path))


def test_fewer_images_than_a_batch_stop(tmp_path):
    write_images(tmp_path, random_images(5))
    with pytest.raises(
        UserError, match="5 files.*1 of them left out.*--batch_size=8"
    ):
        examples.load(folder_config(tmp_path))


def png(image):
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "PNG")
    return buffer.getvalue()


def test_real_faces_are_read_from_the_shared_archive(tmp_path):
    archive = SHARED / "data" / "celeb_a_5000.tar"
    if not archive.exists():
        pytest.skip(f"no {archive}; set SRMCMC_SHARED")
    import tarfile

    with tarfile.open(archive) as tar:
        for member in [m for m in tar if m.isfile()][:50]:
            tar.extract(member, tmp_path, filter="data")
    config = Config(dataset="celeb_a", data_dir=str(tmp_path), batch_size=8)
    images = examples.load(config)
    assert images.observed.shape == (40, 32, 32, 3)
    assert 60 < images.observed.mean() < 180


def test_labels_go_with_their_images():
    found = examples.load(Config(image_size=8, channels=1, batch_size=8))
    images, labels = digits.load()
    of = {
        bytes(image): label for image, label in zip(images, labels, strict=True)
    }
    assert found.labels.names == tuple("0123456789")
    for part, numbers in zip(found[:2], found.labels[:2], strict=True):
        assert numbers.dtype == np.int32 and len(numbers) == len(part) > 300
        assert [of[bytes(image)] for image in part] == list(numbers)

"""Images are read as a viewer shows them, or refused in one line."""

import io
import os
import struct
import threading
import time
import zlib

import numpy as np
import pytest
from helpers import random_images
from hypothesis import given
from hypothesis import strategies as st
from PIL import EpsImagePlugin, Image

from srmcmc_tf.files import image_file

GRAY = Image.fromarray(random_images(1)[0, ..., 0])
COLOR = Image.fromarray(random_images(1, 8, 3)[0])


def encoded(image, kind="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def read(*args):
    return np.asarray(image_file.read(*args))


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "PPM"])
def test_sixteen_bits_are_scaled_by_their_whole_range(kind):
    ramp = np.arange(256, dtype=np.uint16).reshape(16, 16) * 257
    content = encoded(Image.fromarray(ramp), kind)
    np.testing.assert_array_equal(read(content), ramp // 257)
    color = read(content, 3)
    np.testing.assert_array_equal(color[..., 1], ramp // 257)


@pytest.mark.parametrize("dtype, what", [("f4", "floating-p"), ("i4", "32-bi")])
def test_pixels_without_a_known_range_are_refused(dtype, what):
    pixels = np.linspace(0, 1, 64).reshape(8, 8).astype(dtype)
    with pytest.raises(ValueError, match=f"{what}.* save it with 8 or 16 bits"):
        image_file.read(encoded(Image.fromarray(pixels), "TIFF"))


def test_the_exif_orientation_is_applied():
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter turn clockwise
    turned = COLOR.crop((0, 0, 8, 4))
    np.testing.assert_array_equal(
        read(encoded(turned, exif=exif)), np.rot90(np.asarray(turned), -1)
    )


def test_transparent_parts_are_white_and_opaque_images_keep_their_bits():
    np.testing.assert_array_equal(
        read(encoded(COLOR.convert("RGBA"))), np.asarray(COLOR)
    )
    np.testing.assert_array_equal(
        read(encoded(GRAY.convert("LA"))), np.asarray(GRAY)
    )
    for mode in ("RGBA", "LA"):
        assert (read(encoded(Image.new(mode, (2, 2)))) == 255).all()
    half = read(encoded(Image.new("RGBA", (1, 1), (0, 0, 0, 128))))
    np.testing.assert_allclose(half, 127, atol=1)
    palette = COLOR.quantize(4)
    palette.putpixel((0, 0), 0)
    seen = read(encoded(palette, transparency=0))
    assert (seen[0, 0] == 255).all()


def test_palettes_ink_and_bits_become_the_colors_they_stand_for():
    palette = COLOR.quantize(4)
    np.testing.assert_array_equal(
        read(encoded(palette)), np.asarray(palette.convert("RGB"))
    )
    red = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    for kind in ("TIFF", "JPEG"):
        pixel = read(encoded(red, kind))[0, 0]
        assert pixel[0] > 250 and max(pixel[1:]) < 5
    assert read(encoded(Image.new("1", (2, 2), 1)))[0, 0] == 255


def png_header(width, height):
    """A PNG that claims a size and has few pixels."""

    def chunk(kind, content):
        crc = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + crc

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + pixels


@pytest.mark.parametrize("side", [8193, 13_000, 60_000])
def test_too_many_pixels_are_refused_before_they_are_decoded(side, monkeypatch):
    monkeypatch.setattr(image_file, "_view", None)
    with pytest.raises(ValueError, match="pixels.* allowed; shrink it"):
        image_file.read(png_header(side, side))


def test_large_images_are_held_one_at_a_time(monkeypatch):
    inside, most = [], []

    def hold():
        with image_file.opened(encoded(COLOR)):
            inside.append(1)
            time.sleep(0.005)
            most.append(len(inside))
            inside.pop()

    monkeypatch.setattr(image_file, "_LARGE", 63)
    threads = [threading.Thread(target=hold) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8


def test_eps_never_reaches_ghostscript(monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("Ghostscript")

    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", never)
    with pytest.raises(ValueError, match="not one of BMP"):
        image_file.read(encoded(COLOR, "EPS"))


def test_pipes_devices_folders_and_missing_files_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        with pytest.raises(ValueError, match="not a regular file"):
            image_file.read(path)
    with pytest.raises(ValueError, match="No such file"):
        image_file.read(tmp_path / "none")


SOUND = [
    encoded(image, kind)
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
    for image in (GRAY, COLOR)
]


@given(
    st.sampled_from(SOUND),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
    st.integers(0, 400),
)
def test_a_damaged_image_is_read_or_refused_in_one_line(sound, changes, cut):
    content = bytearray(sound)
    for place, value in changes:
        content[place % len(content)] = value
    content = bytes(content[: len(content) - cut % len(content)])
    try:
        image = image_file.read(content, max_pixels=2**16)
    except ValueError as error:
        assert str(error) and "\n" not in str(error)
    else:
        assert image.mode in ("L", "RGB")
        assert image.width * image.height <= 2**16

"""Opens image files: the one way, for training data, metrics and masks.

An image is decoded only if its format is on a list and its header states a
bounded number of pixels, and it comes out as an image viewer shows it: upright,
opaque on white, 8 bits per channel.
"""

import contextlib
import io
import pathlib
import threading
from collections.abc import Iterator

import numpy as np
from PIL import Image, ImageOps

from srmcmc_tf.files import paths

# Not EPS (runs Ghostscript), nor formats nobody trains on.
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
MAX_PIXELS = 2**26  # 268 MB as decoded by Pillow
_MAX_BYTES = 2**30
# Larger images are decoded one at a time, however many threads there are.
_LARGE = 2**22
_one_large = threading.Lock()


def read(
    content: paths.PathLike | bytes,
    channels: int | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Image.Image:
    """Reads an image, in Pillow's mode L (gray) or RGB.

    The orientation of the EXIF tag is applied, transparent parts become white,
    and 16-bit gray is scaled to 8 bits by its whole range.

    Args:
        content: of the file, or its path.
        channels: 1 for gray, 3 for color; by default as in the file.
        max_pixels: larger images are not decoded.

    Raises:
        ValueError: if it is no such image; one line without the file's name.
    """
    with opened(content, channels, max_pixels) as image:
        return image


@contextlib.contextmanager
def opened(
    content: paths.PathLike | bytes,
    channels: int | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Iterator[Image.Image]:
    """Reads an image as `read` does, for a block that makes it small.

    Other threads wait with their large images until the block ends.
    """
    with contextlib.ExitStack() as stack:
        try:
            image = Image.open(_file(content), formats=FORMATS)
            stack.enter_context(image)
            if image.width * image.height > max_pixels:
                raise ValueError(
                    f"{image.width}x{image.height} pixels, more than the "
                    f"{max_pixels:,} allowed; shrink it"
                )
            if image.width * image.height > _LARGE:
                stack.enter_context(_one_large)
            view = _view(image, channels)
        except Exception as error:  # Pillow raises all kinds of them
            raise ValueError(_reason(error, max_pixels)) from None
        del image  # it may be another one, and large
        yield view


def _reason(error: Exception, max_pixels: int) -> str:
    """What is wrong with an image, in one line."""
    if isinstance(error, Image.DecompressionBombError):
        return f"more than the {max_pixels:,} pixels allowed; shrink it"
    if isinstance(error, Image.UnidentifiedImageError):
        return f"not one of {', '.join(FORMATS)}"
    if isinstance(error, MemoryError):
        return "out of memory"
    reason = getattr(error, "strerror", None) or str(error) or repr(error)
    return " ".join(reason.split())[:200]


def _file(content: paths.PathLike | bytes) -> io.BytesIO | pathlib.Path:
    if isinstance(content, bytes):
        return io.BytesIO(content)
    size = paths.regular(content).st_size
    if size > _MAX_BYTES:
        raise ValueError(f"{size:,} bytes are too many for an image")
    return pathlib.Path(content)


def _view(image: Image.Image, channels: int | None) -> Image.Image:
    """The image as a viewer shows it, in mode L or RGB."""
    image.load()
    with contextlib.suppress(Exception):  # viewers ignore a damaged tag
        ImageOps.exif_transpose(image, in_place=True)
    gray = image.mode in ("1", "L", "LA", "La") or "I" in image.mode
    mode = "L" if (channels or (1 if gray else 3)) == 1 else "RGB"
    if image.mode == "F" or "I" in image.mode:
        image = _eight_bits(image, image.format)
    elif image.has_transparency_data:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image).convert("RGB")
    return image if image.mode == mode else image.convert(mode)


def _eight_bits(image: Image.Image, kind: str | None) -> Image.Image:
    """Gray of 16 bits in 8; others have no agreed range and are refused."""
    sixteen = image.mode.startswith("I;16")
    # Older Pillows, and PPM, widen 16 bits to 32.
    if not sixteen and not (image.mode == "I" and kind in ("PNG", "PPM")):
        what = "floating-point" if image.mode == "F" else "32-bit"
        raise ValueError(
            f"{what} pixels, whose range is not known; save it with 8 or 16 "
            "bits per channel"
        )
    values = np.asarray(image).astype(np.int64)
    return Image.fromarray(((values * 255 + 32767) // 65535).astype(np.uint8))

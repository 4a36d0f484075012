"""Masks of images: which pixels are known, by name or as a short text."""

import re

import numpy as np

MASKS = ("center", "left")
_BITS = re.compile("([0-9]+)x([0-9]+):([0-9a-f]*)")


def known_pixels(mask: str, size: int) -> np.ndarray:
    """The mask of a name or of a text of `encode`, bool [size, size, 1].

    True where pixels are known. `ValueError` if it is no mask, or has another
    size.
    """
    known = np.ones([size, size, 1], bool)
    if mask == "center":
        known[size // 4 : -size // 4, size // 4 : -size // 4] = False
        return known
    if mask == "left":
        known[:, : size // 2] = False
        return known
    found = _BITS.fullmatch(mask)
    if not found:
        raise ValueError(f"mask={mask}: must be center, left or a picture")
    h, w, digits = found[1], found[2], found[3]
    if h != str(size) or w != str(size):
        raise ValueError(f"the mask is {h}x{w}, the images are {size}x{size}")
    if len(digits) != 2 * -(-size * size // 8):
        raise ValueError(f"mask={mask}: has not one bit per pixel")
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(digits), np.uint8))
    known = bits[: size * size].astype(bool).reshape(size, size, 1)
    if known.all() or not known.any():
        raise ValueError("the mask is all white or all black: white is known")
    return known


def is_text(mask: str) -> bool:
    """Whether a text is one of `encode`."""
    return _BITS.fullmatch(mask) is not None


def encode(mask: np.ndarray) -> str:
    """A mask [h, w], true where pixels are known, as a short text."""
    h, w = np.shape(mask)[:2]
    bits = np.packbits(np.asarray(mask, bool).reshape(h, w))
    return f"{h}x{w}:{bits.tobytes().hex()}"

"""Pictures of batches: a grid as an array, as a PNG."""

import io
import math
import os

import numpy as np
from PIL import Image


def to_uint8(x):
    """Images about [-1, 1], clipped and rounded to uint8: for eyes, metrics."""
    return np.round((np.clip(x, -1.0, 1.0) + 1.0) * 127.5).astype(np.uint8)


def grid(x, columns=None):
    """Arranges images [n, h, w, c] about [-1, 1] in rows on a black ground.

    Args:
        x: the images, clipped here.
        columns: images a row; by default about as many as rows.

    Returns:
        uint8 [height, width, c].
    """
    x = to_uint8(np.asarray(x))
    n, h, w, c = x.shape
    columns = columns or math.ceil(math.sqrt(n))
    rows = math.ceil(n / columns)
    cells = np.zeros((rows * columns, h + 1, w + 1, c), np.uint8)
    cells[:n, :h, :w] = x
    cells = cells.reshape(rows, columns, h + 1, w + 1, c)
    picture = cells.transpose(0, 2, 1, 3, 4).reshape(rows * (h + 1), -1, c)
    return picture[:-1, :-1]


def save_grid(path, x, columns=None, width=512):
    """Writes a grid as a PNG, enlarged by a whole factor to about `width`."""
    picture = grid(x, columns)
    factor = max(1, width // picture.shape[1])
    picture = picture.repeat(factor, axis=0).repeat(factor, axis=1)
    buffer = io.BytesIO()
    Image.fromarray(picture.squeeze()).save(buffer, "PNG")
    temporary = f"{path}.tmp"
    with open(temporary, "wb") as file:
        file.write(buffer.getvalue())
    os.replace(temporary, path)

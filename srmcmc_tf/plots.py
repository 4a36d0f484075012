"""Pictures of batches: a grid as an array, as a PNG."""

import io
import math
import os

import numpy as np
from PIL import Image, ImageDraw


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
    picture = _enlarge(picture, factor)
    buffer = io.BytesIO()
    Image.fromarray(picture.squeeze()).save(buffer, "PNG")
    temporary = f"{path}.tmp"
    with open(temporary, "wb") as file:
        file.write(buffer.getvalue())
    os.replace(temporary, path)


def save_table(path, x, labels, cell=48):
    """Writes images [rows, columns, h, w, c] with a label below each column."""
    rows, columns = x.shape[:2]
    x = x[..., :1].repeat(3, -1) if x.shape[-1] == 1 else x
    factor = max(1, -(-cell // x.shape[2]))
    picture = grid(x.reshape(-1, *x.shape[2:]), columns)
    picture = _enlarge(picture, factor)
    canvas = Image.new(
        "RGB", (picture.shape[1], picture.shape[0] + 36), "white"
    )
    canvas.paste(Image.fromarray(picture))
    draw = ImageDraw.Draw(canvas)
    width = picture.shape[1] / columns
    for i, label in enumerate(labels):
        place = (i * width + width / 2, picture.shape[0] + 18)
        draw.multiline_text(place, label, "black", anchor="mm", align="center")
    canvas.save(path)


def save_animation(path, frames, width=512, milliseconds=150):
    """Writes frames [t, n, h, w, c] as an animated GIF of grids."""
    pictures = [grid(frame) for frame in frames]
    factor = max(1, width // pictures[0].shape[1])
    first, *rest = [
        Image.fromarray(_enlarge(p, factor).squeeze()) for p in pictures
    ]
    durations = [milliseconds] * len(rest) + [10 * milliseconds]
    first.save(
        path, save_all=True, append_images=rest, duration=durations, loop=0
    )


def _enlarge(picture, factor):
    return picture.repeat(factor, axis=0).repeat(factor, axis=1)

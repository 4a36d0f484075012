"""Pictures of batches and of densities: as arrays, PNGs and GIFs."""

import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageDraw

from srmcmc_tf.data import pixels
from srmcmc_tf.files import atomic
from srmcmc_tf.models import inputs

if TYPE_CHECKING:  # half a second to import, and only needed for toys
    from matplotlib.figure import Figure

__all__ = [
    "densities",
    "grid",
    "points",
    "rows_by_label",
    "save",
    "save_animation",
    "save_grid",
    "save_table",
    "show",
]


def grid(x: np.ndarray, columns: int | None = None) -> np.ndarray:
    """Arranges images [n, h, w, c] about [-1, 1] in rows on black.

    Args:
        x: the images, clipped here; uint8 images are shown as they are.
        columns: images per row; by default about as many as rows.

    Returns:
        uint8 [height, width, c].
    """
    x = np.asarray(inputs.images(x, (None, None, None)))
    inputs.check_range(x)
    x = pixels.to_uint8(x)
    n, h, w, c = x.shape
    columns = columns or math.ceil(math.sqrt(n))
    rows = math.ceil(n / columns)
    cells = np.zeros((rows * columns, h + 1, w + 1, c), np.uint8)
    cells[:n, :h, :w] = x
    cells = cells.reshape(rows, columns, h + 1, w + 1, c)
    picture = cells.transpose(0, 2, 1, 3, 4).reshape(rows * (h + 1), -1, c)
    return picture[:-1, :-1]


def rows_by_label(
    x: np.ndarray, labels: Sequence[int]
) -> tuple[np.ndarray, int]:
    """Arranges images in a row per label, black where a row is shorter.

    Args:
        x: float images [n, h, w, c].
        labels: integers [n].

    Returns:
        Images for `grid`, and their number of columns.
    """
    numbers = np.asarray(labels)
    rows = [x[numbers == number] for number in np.unique(numbers)]
    columns = max(map(len, rows))
    cells = np.full((len(rows), columns, *x.shape[1:]), -1.0, np.float32)
    for cell, row in zip(cells, rows, strict=True):
        cell[: len(row)] = row
    return cells.reshape(-1, *x.shape[1:]), columns


def save_grid(
    path: atomic.PathLike,
    x: np.ndarray,
    columns: int | None = None,
    width: int = 512,
) -> None:
    """Writes a grid as a PNG, enlarged by a whole factor to about `width`."""
    _write(path, show(x, columns, width), "PNG")


def show(
    x: np.ndarray, columns: int | None = None, width: int = 512
) -> Image.Image:
    """Returns a grid as an image, which a notebook displays inline.

    Args:
        x, columns: as of `grid`.
        width: it is enlarged by a whole factor to about this width.
    """
    picture = grid(x, columns)
    factor = max(1, width // picture.shape[1])
    return Image.fromarray(_enlarge(picture, factor).squeeze())


def save(path: atomic.PathLike, picture: np.ndarray) -> None:
    """Writes a uint8 array [height, width, c] as a PNG."""
    _write(path, Image.fromarray(picture.squeeze()), "PNG")


def save_table(
    path: atomic.PathLike, x: np.ndarray, labels: Sequence[str], cell: int = 48
) -> None:
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
    _write(path, canvas, "PNG")


def save_animation(
    path: atomic.PathLike,
    frames: np.ndarray,
    width: int = 512,
    milliseconds: int = 150,
) -> None:
    """Writes frames [t, n, h, w, c] as an animated GIF of grids."""
    pictures = [grid(frame) for frame in frames]
    factor = max(1, width // pictures[0].shape[1])
    first, *rest = [
        Image.fromarray(_enlarge(p, factor).squeeze()) for p in pictures
    ]
    durations = [milliseconds] * len(rest) + [10 * milliseconds]
    _write(
        path,
        first,
        "GIF",
        save_all=True,
        append_images=rest,
        duration=durations,
        loop=0,
    )


def densities(found: Any, numbers: Mapping[str, float]) -> np.ndarray:
    """Draws the figure of the paper's appendix: densities and their logarithms.

    Args:
        found: `toy_density.Densities`, in 1-D or 2-D.
        numbers: the result of `toy_density.measure` for them.

    Returns:
        uint8 [height, width, 3].
    """
    columns = {
        f"truth\nentropy {numbers['truth_entropy']:.2f}": found.truth,
        f"EBM\nentropy {numbers['ebm_entropy']:.2f}": np.exp(found.log_ebm),
        f"KDE of the samples\nTV {numbers['kde_tv']:.3f}, of exact draws "
        f"{numbers['kde_of_truth_tv']:.3f}": found.kde,
    }
    low = np.log(found.truth.max()) - 9  # lower values would look the same
    figure, axes = _figure(2, 3)
    for i, (title, density) in enumerate(columns.items()):
        with np.errstate(divide="ignore"):
            log = np.maximum(np.log(density), low)
        rows = [density, found.log_ebm if i == 1 else log]
        for j, values in enumerate(rows):
            ax = axes[j, i]
            if values.ndim == 1:
                ax.plot(found.axis, values)
                if i == 2:
                    ax.plot(found.axis, axes[j, 0].lines[0].get_ydata(), ":k")
                continue
            image = ax.imshow(
                values.T, "viridis", origin="lower", extent=(-1, 1, -1, 1)
            )
            if i == 2:  # the colours of the truth, to compare with
                image.set_clim(axes[j, 0].images[0].get_clim())
            figure.colorbar(image, ax=ax)
        axes[0, i].set_title(title, fontsize=10)
    axes[0, 0].set_ylabel("density")
    axes[1, 0].set_ylabel("log-density")
    return _array(figure)


def points(x: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    """Draws points of the plane as dots, points of a line as a histogram.

    Args:
        x: [panels, n, d], with d = 1 or 2.
        labels: one per panel.

    Returns:
        uint8 [height, width, 3].
    """
    columns = min(len(x), 6)
    figure, axes = _figure(-(-len(x) // columns), columns)
    for ax in axes.flat[len(x) :]:
        ax.set_axis_off()
    for ax, some, label in zip(axes.flat, x, labels, strict=False):
        if some.shape[1] == 1:
            ax.hist(some[:, 0], np.linspace(-1.1, 1.1, 56))
        else:
            ax.plot(*some.T, ".", markersize=2)
            ax.set(ylim=(-1.1, 1.1), aspect="equal")
        ax.set_xlim(-1.1, 1.1)
        ax.set_title(label, fontsize=10)
    return _array(figure)


def _figure(rows: int, columns: int) -> tuple["Figure", np.ndarray]:
    from matplotlib.figure import Figure

    figure = Figure((3.4 * columns, 3 * rows), dpi=80, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _array(figure: "Figure") -> np.ndarray:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[..., :3]


def _enlarge(picture: np.ndarray, factor: int) -> np.ndarray:
    return picture.repeat(factor, axis=0).repeat(factor, axis=1)


def _write(
    path: atomic.PathLike, image: Image.Image, kind: str, **options: Any
) -> None:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    atomic.write_bytes(path, buffer.getvalue())

import numpy as np
import pytest
from helpers import random_images
from PIL import Image

from srmcmc_tf import plots
from srmcmc_tf.data import pixels


def test_values_are_clipped_and_rounded_once():
    x = np.array([-2.0, -1.0, 0.001, 1.0, 1.5])
    np.testing.assert_array_equal(pixels.to_uint8(x), [0, 0, 128, 255, 255])


def test_uint8_survives_conversion_to_float_and_back():
    levels = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(pixels.to_uint8(levels / 127.5 - 1.0), levels)


def test_grid_shows_every_image_in_order():
    x = np.linspace(-1, 1, 6).reshape(6, 1, 1, 1) * np.ones([1, 4, 4, 1])
    picture = plots.grid(x, columns=3)
    assert picture.shape == (9, 14, 1)
    np.testing.assert_array_equal(
        [picture[5 * r, 5 * c, 0] for r in range(2) for c in range(3)],
        pixels.to_uint8(x[:, 0, 0, 0]),
    )


def test_png_holds_the_grid(tmp_path):
    x = np.random.default_rng(0).uniform(-1, 1, [4, 8, 8, 3])
    plots.save_grid(tmp_path / "a.png", x, width=1)
    png = np.asarray(Image.open(tmp_path / "a.png"))
    np.testing.assert_array_equal(png, plots.grid(x))


def test_uint8_images_are_shown_as_they_are():
    images = random_images(4)
    picture = plots.grid(pixels.to_float(images))
    np.testing.assert_array_equal(plots.grid(images), picture)
    np.testing.assert_array_equal(plots.grid(list(images)), picture)


def test_what_is_no_batch_of_images_is_one_line():
    with pytest.raises(ValueError, match=r"shape \[n, h, w, c\], not \[8, 8\]"):
        plots.grid(np.zeros([8, 8]))
    with pytest.warns(UserWarning, match=r"2 \* x - 1"):
        plots.grid(random_images(8) / 255.0)


def test_a_shown_grid_is_the_saved_one_and_displays_in_notebooks(tmp_path):
    x = np.zeros([5, 8, 8, 3])
    shown = plots.show(x)
    plots.save_grid(tmp_path / "grid.png", x)
    np.testing.assert_array_equal(shown, Image.open(tmp_path / "grid.png"))
    assert shown._repr_png_().startswith(b"\x89PNG")


def test_rows_of_labels_are_black_where_they_are_shorter():
    x = np.arange(4, dtype=np.float32).reshape(4, 1, 1, 1)
    cells, columns = plots.rows_by_label(x, [3, 1, 3, 3])
    assert columns == 3
    np.testing.assert_array_equal(cells.ravel(), [1, -1, -1, 0, 2, 3])

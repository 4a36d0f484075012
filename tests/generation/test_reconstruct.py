import json

import numpy as np
import pytest
from helpers import random_images, untrained_run, write_images
from PIL import Image

from srmcmc_tf.errors import UserError
from srmcmc_tf.generation import reconstruct


@pytest.mark.parametrize(
    "settings",
    [
        {"task": "whole"},
        {"task": "whole", "rule": "adam"},
        {"task": "inpaint", "mask": "left"},
        {"task": "upscale"},
    ],
)
def test_reconstruction_lowers_the_error(tiny_run, tmp_path, settings):
    write_images(tmp_path / "images", random_images(3))
    found = reconstruct.reconstruct(
        tiny_run,
        images=str(tmp_path / "images"),
        iterations=20,
        out=tmp_path,
        **settings,
    )
    name = settings["task"].replace("whole", "reconstruction")
    assert found.picture == tmp_path / f"{name}.png" and found.picture.exists()
    record = json.loads(found.json.read_text())
    assert record == found.record
    assert record["n"] == 3 and record["range"] == "[-1, 1]"
    assert record["rule"] == settings.get("rule", "descent")
    assert record["mse"] < record["mse_at_start"]
    assert record["loss_per_pixel"] < 0.5 * record["mse_at_start"]
    assert ("mse_unknown" in record) == (settings["task"] != "whole")
    if settings["task"] == "inpaint":
        arrays = np.load(found.file)
        gaps = arrays["reconstruction"].clip(-1, 1) - arrays["x"]
        hole = np.mean(gaps[:, :, :4] ** 2)
        assert record["mse_unknown"] == pytest.approx(hole, rel=1e-4)


def test_left_out_examples_are_the_default(tiny_run, tmp_path):
    found = reconstruct.reconstruct(tiny_run, n=4, iterations=1, out=tmp_path)
    arrays = np.load(found.file)
    assert found.record["n"] == 4 and found.record["iterations"] == 1
    assert arrays["x"].shape == arrays["reconstruction"].shape == (4, 8, 8, 1)
    assert arrays["mse"].shape == (2, 4)


def test_settings_that_mean_nothing_to_a_model_are_not_used(tmp_path):
    run = untrained_run(tmp_path / "vae", model="vae")
    found = reconstruct.reconstruct(run, n=3, iterations=9, out=tmp_path)
    assert found.record["rule"] == "encoder"
    assert found.record["iterations"] == 0


def test_a_mask_keeps_the_known_pixels(tmp_path):
    x = np.ones([1, 8, 8, 1], np.float32)
    left = reconstruct.observation("inpaint", size=8, mask="left")(x)
    np.testing.assert_array_equal(left[0, 0, :, 0], [0] * 4 + [1] * 4)
    center = reconstruct.observation("inpaint", size=8, mask="center")(x)
    np.testing.assert_array_equal(center[0, 4, :, 0], [1, 1] + [0] * 4 + [1, 1])
    picture = np.zeros([8, 8], np.uint8)
    picture[2] = 255
    Image.fromarray(picture).save(tmp_path / "mask.png")
    observe = reconstruct.observation(
        "inpaint", size=8, mask=str(tmp_path / "mask.png")
    )
    np.testing.assert_array_equal(observe(x)[0, :, 0, 0], np.arange(8) == 2)


def test_upscaling_knows_the_means_of_squares():
    x = np.arange(64, dtype=np.float32).reshape(1, 8, 8, 1)
    known = reconstruct.observation("upscale", size=8, factor=4)(x)
    np.testing.assert_allclose(known[0, :4, :4, 0], x[0, :4, :4].mean())
    np.testing.assert_allclose(known[0, 4:, :4, 0], x[0, 4:, :4].mean())


def test_a_wrong_mask_or_factor_is_explained(tmp_path):
    with pytest.raises(UserError, match="must be center, left or a picture"):
        reconstruct.observation("inpaint", size=8, mask=str(tmp_path / "no"))
    Image.new("1", (9000, 9000)).save(tmp_path / "huge.png")
    for mask, reason in (("huge.png", "shrink it"), ("/dev/zero", "regular")):
        with pytest.raises(UserError, match=f"--mask=.*{reason}"):
            reconstruct.observation(
                "inpaint", size=8, mask=str(tmp_path / mask)
            )
    with pytest.raises(UserError, match="--factor=3: must divide 8"):
        reconstruct.observation("upscale", size=8, factor=3)

import json

import numpy as np
import pytest
from helpers import call, random_images, untrained_run, write_images

from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.generation import sample


def test_samples_from_images_are_compared_with_them(tmp_path):
    run = untrained_run(tmp_path / "run", start="degraded")
    write_images(tmp_path / "x", random_images(3))
    code, out, _ = call(
        "sample",
        f"--workdir={run.path}",
        "--seeds=0-4",
        f"--images={tmp_path / 'x'}",
    )
    assert code == 0 and "3 steps, 3 gradient evaluations per sample" in out
    directory = run.generated_directory
    record = json.loads((directory / "informed.json").read_text())
    methods = ["start", "sample", "average", "mean color"]
    assert list(record["methods"]) == methods
    assert record["unknown_share"] == 0.25
    assert record["n"] == 5 and record["n_images"] == 3
    for name, error in record["methods"].items():
        assert f"{name:<12} MSE {error['mse']:.4f}" in out
        assert error["psnr"] == pytest.approx(10 * np.log10(4 / error["mse"]))
    with np.load(directory / "samples.npz") as arrays:
        x, z = arrays["x"], arrays["z"]
    known = np.ones([8, 8, 1], bool)
    known[2:-2, 2:-2] = False
    np.testing.assert_array_equal(x[:, known], z[:, known])
    assert np.array_equal(x[0][known], x[3][known])  # image 3 mod 3
    assert not np.array_equal(x[0], x[3])  # another seed
    truth = pixels.to_float(random_images(3)).numpy()
    same = x[:3, None][:, :, known] == truth[None][:, :, known]
    truth = truth[same.all(axis=2).argmax(axis=1)]  # in the order of the seeds
    means = [x.clip(-1, 1)[i::3].mean(axis=0) for i in range(3)]
    gaps = (np.stack(means) - truth)[:, ~known[..., 0]]
    mean = record["methods"]["average"]["mse"]
    assert mean == pytest.approx(np.mean(gaps**2), rel=1e-5)


def test_images_for_chains_from_noise_are_refused(tiny_run, tmp_path):
    with pytest.raises(UserError, match="do not start from images"):
        sample.sample(tiny_run, images=str(tmp_path))

import numpy as np
import pytest
from helpers import call, explains_a_missing_run, untrained_run

from srmcmc_tf.cli import export
from srmcmc_tf.errors import UserError


def test_a_missing_run_is_explained(tmp_path):
    explains_a_missing_run("export", tmp_path)


def test_exported_weights_come_back(tmp_path):
    run = untrained_run(tmp_path / "run")
    path = tmp_path / "w.npz"
    code, out, err = call(
        "export", f"--workdir={run}", "--format=npz", f"--out={path}"
    )
    assert code == 0 and out == f"{path}\n", err
    weights = run.load_model().energy.get_weights()
    with np.load(path) as arrays:
        assert list(arrays)[:3] == ["00/kernel", "00/bias", "01/kernel"]
        for array, weight in zip(arrays.values(), weights, strict=True):
            np.testing.assert_array_equal(array, weight)


def test_versions_are_counted(few_signatures, tmp_path):
    run = untrained_run(tmp_path / "run")
    for version in ("1", "2"):
        code, out, err = call("export", f"--workdir={run}")
        assert code == 0, err
        assert out == f"{run.export_directory / version}\n"


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"model": "vae"}, "is a vae: no energy to export"),
        ({"dataset": "toy_1d"}, "bin/export is for images"),
    ],
)
def test_only_energies_of_images_are_exported(tmp_path, settings, message):
    run = untrained_run(tmp_path / "run", **settings)
    with pytest.raises(UserError, match=message):
        export.export([f"--workdir={run}"])

import numpy as np
import pytest
import tensorflow as tf
from helpers import call, explains_a_missing_run, untrained_run

from srmcmc_tf.cli import export
from srmcmc_tf.errors import UserError
from srmcmc_tf.models import energies


def test_a_missing_run_is_explained(tmp_path):
    explains_a_missing_run("export", tmp_path)


def test_exported_weights_come_back(tmp_path):
    run = untrained_run(tmp_path / "run")
    path = tmp_path / "w.npz"
    code, out, err = call(
        "export", f"--workdir={run}", "--format=npz", f"--out={path}"
    )
    assert code == 0 and out == f"{path}\n", err
    other = energies.convnet(8, 1, n_f=run.config.n_f, seed=99)
    energies.load_weights(path, other)
    x = tf.ones([2, 8, 8, 1])
    np.testing.assert_array_equal(other(x), run.load_model()(x))


def test_versions_are_counted(tmp_path):
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

import numpy as np
import pytest

import srmcmc_tf
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.run import Run


def test_a_run_is_loaded_with_its_averaged_weights(averaged):
    workdir, model = averaged
    again = srmcmc_tf.load(workdir)
    np.testing.assert_array_equal(again.sample([1, 2]), model.sample([1, 2]))
    np.testing.assert_array_equal(again.weights[0], again.average.values[0])


def test_a_keras_file_is_loaded(tiny_model, tmp_path):
    tiny_model.save(tmp_path / "model.keras")
    again = srmcmc_tf.load(tmp_path / "model.keras")
    np.testing.assert_array_equal(again.sample([3]), tiny_model.sample([3]))


def test_what_cannot_be_loaded_is_one_line(averaged, tmp_path):
    (tmp_path / "broken.keras").write_bytes(b"no archive")
    for path, options, text in (
        (tmp_path / "broken.keras", {}, "cannot load"),
        (tmp_path / "none.keras", {}, "cannot load"),
        (tmp_path / "none", {}, "is not a run directory"),
        (tmp_path / "x.keras", {"best": True}, "`best` is for runs"),
        (averaged[0], {"best": True}, "has no best"),
    ):
        with pytest.raises(UserError, match=text) as error:
            srmcmc_tf.load(path, **options)
        assert "\n" not in str(error.value)


def test_a_run_that_is_not_finished_is_reported(averaged, tmp_path, caplog):
    workdir, model = averaged
    run = Run(tmp_path / "run")
    config = Run(workdir).settle({"updates": 1000})
    with run.lock():
        run.save_config(config, "0123")
        run.checkpoints.save(model)
    run.load_model()
    assert "is at update 12 of 1,000" in caplog.text

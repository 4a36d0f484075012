import numpy as np
import pytest
from helpers import fit_updates

from srmcmc_tf.errors import UserError
from srmcmc_tf.training.callbacks.checkpoints import Checkpoints


def test_checkpoints_are_saved_on_time_and_at_the_end(tiny_model, tmp_path):
    saves = Checkpoints(tmp_path, every=2)
    fit_updates(tiny_model, [saves], n=5)
    assert [s.path.name for s in saves.saved] == ["000002", "000004", "000005"]


def test_checkpoints_of_another_run_are_not_written_over(tiny_model, tmp_path):
    (tmp_path / "checkpoints" / "000009").mkdir(parents=True)
    with pytest.raises(UserError, match="000009 is later than update 0"):
        fit_updates(tiny_model, [Checkpoints(tmp_path)], n=1)


def test_a_new_model_resumes_from_the_newest_checkpoint(tiny_model, tmp_path):
    assert Checkpoints(tmp_path).restore(tiny_model) == 0
    fit_updates(tiny_model, [Checkpoints(tmp_path)], n=3)
    trained = tiny_model.weights[0].numpy()
    tiny_model.weights[0].assign(0 * trained)
    tiny_model.optimizer.iterations.assign(0)
    assert Checkpoints(tmp_path).restore(tiny_model) == 3
    np.testing.assert_array_equal(tiny_model.weights[0], trained)

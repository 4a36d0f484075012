import numpy as np
import pytest
import tensorflow as tf
from helpers import random_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.files import atomic
from srmcmc_tf.models import energies
from srmcmc_tf.runs import checkpoints
from srmcmc_tf.runs.checkpoints import Checkpoints


def fresh():
    model = srmcmc_tf.ShortRunEBM(energies.convnet(8, 1, n_f=4, seed=5), K=3)
    model.compile()
    return model


def fit(model, n=1):
    x = pixels.to_float(random_images(8))
    model.fit(x, epochs=n, batch_size=8, shuffle=False, verbose=0)


def write_nan(model, path):
    """Replaces a checkpoint by one of NaN, which `save` would refuse."""
    weights = model.energy.weights[0].numpy()
    model.energy.weights[0].assign(weights * np.nan)
    tf.train.Checkpoint(**model.checkpoint_items()).write(str(path / "state"))
    model.energy.weights[0].assign(weights)


def test_restoring_brings_back_every_bit(tiny_model, tmp_path):
    fit(tiny_model, 3)
    saved = Checkpoints(tmp_path).save(tiny_model)
    assert saved.megabytes > 0 and saved.seconds > 0
    other = fresh()
    assert checkpoints.restore(Checkpoints(tmp_path).latest(), other) == 3
    fit(tiny_model), fit(other)
    for a, b in zip(tiny_model.variables, other.variables, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(
        tiny_model.optimizer.variables, other.optimizer.variables, strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_directories_of_other_names_are_no_checkpoints(tiny_model, tmp_path):
    found = Checkpoints(tmp_path)
    found.save(tiny_model)
    for name in ("²", "1.bak", "-3", "notes"):
        (tmp_path / name).mkdir()
    assert found.updates() == [0]


def test_the_newest_two_are_kept(tiny_model, tmp_path):
    for _ in range(4):
        fit(tiny_model)
        Checkpoints(tmp_path).save(tiny_model)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["000003", "000004"]
    assert Checkpoints(tmp_path).latest().name == "000004"


def test_an_unfinished_one_is_passed_over_and_written_again(
    tiny_model, tmp_path
):
    fit(tiny_model)
    Checkpoints(tmp_path).save(tiny_model)
    fit(tiny_model)
    half = tmp_path / ".000002.0123456789abcdef.srmcmc-tmp"
    half.mkdir()
    (half / "state.index").write_bytes(b"half")
    assert Checkpoints(tmp_path).latest().name == "000001"
    Checkpoints(tmp_path).remove_leftovers()
    assert not half.exists()
    Checkpoints(tmp_path).save(tiny_model)
    assert checkpoints.restore(Checkpoints(tmp_path).latest(), fresh()) == 2


def test_weights_that_are_not_finite_are_not_saved(tiny_model, tmp_path):
    fit(tiny_model)
    tiny_model.energy.weights[2].assign(tiny_model.energy.weights[2] * np.nan)
    with pytest.raises(NonFiniteError, match="update 1: conv_1/kernel"):
        Checkpoints(tmp_path).save(tiny_model)
    assert Checkpoints(tmp_path).latest() is None


def test_a_checkpoint_of_another_network_is_refused(tiny_model, tmp_path):
    fit(tiny_model)
    path = Checkpoints(tmp_path).save(tiny_model).path
    other = srmcmc_tf.ShortRunEBM(energies.convnet(8, 1, n_f=8), K=3)
    other.compile()
    with pytest.raises(UserError, match="cannot restore"):
        checkpoints.restore(path, other)


def test_none_is_found_where_there_is_none(tmp_path):
    assert Checkpoints(tmp_path / "nothing").latest() is None


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "nan"])
def test_a_damaged_one_is_passed_over_for_the_one_before(
    damage, tiny_model, tmp_path, caplog
):
    for _ in range(2):
        fit(tiny_model)
        path = Checkpoints(tmp_path).save(tiny_model).path
    file = next(path.glob("state.data*"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    half = content[: len(content) // 2]
    if damage == "nan":
        write_nan(tiny_model, path)
    else:
        file.write_bytes({"cut": half, "flip": content, "empty": b""}[damage])
    model = fresh()
    assert Checkpoints(tmp_path).restore_newest(model).name == "000001"
    assert model.update == 1
    assert "000002" in caplog.text
    Checkpoints(tmp_path).discard_after(1)
    assert Checkpoints(tmp_path).latest().name == "000001"


def test_a_removal_that_is_cut_off_leaves_no_half_checkpoint(
    tiny_model, tmp_path, monkeypatch
):
    fit(tiny_model)
    Checkpoints(tmp_path).save(tiny_model)

    def killed(path, ignore_errors=False):
        if not ignore_errors:
            next(path.iterdir()).unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(atomic.shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            Checkpoints(tmp_path).discard_after(0)
    assert Checkpoints(tmp_path).restore_newest(fresh()) is None
    Checkpoints(tmp_path).remove_leftovers()
    assert not list(tmp_path.iterdir())


def test_if_none_can_be_read_the_error_says_what_to_do(tiny_model, tmp_path):
    fit(tiny_model)
    path = Checkpoints(tmp_path).save(tiny_model).path
    (path / "state.index").unlink()
    with pytest.raises(UserError, match="train again in another") as error:
        Checkpoints(tmp_path).restore_newest(fresh())
    assert "\n" not in str(error.value)


def test_checkpoints_keep_their_names(tiny_model, tmp_path):
    """Those of older versions can be read."""
    fit(tiny_model, 2)
    tf.train.Checkpoint(
        energy=tiny_model.energy, optimizer=tiny_model.optimizer
    ).write(str(tmp_path / "state"))
    other = fresh()
    assert checkpoints.restore(tmp_path, other) == 2
    for a, b in zip(tiny_model.weights, other.weights, strict=True):
        np.testing.assert_array_equal(a, b)

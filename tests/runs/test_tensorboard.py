import numpy as np
import pytest
import tensorflow as tf
from helpers import events

from srmcmc_tf.runs import tensorboard


def test_summaries_are_written_at_their_steps(tmp_path):
    writer = tensorboard.Writer(tmp_path / "tensorboard")
    for step in (3, 5):
        with writer.at(step):
            tensorboard.scalar("x", float(step), "about x")
    writer.close()
    assert [e.step for e in events(tmp_path).Tensors("x")] == [3, 5]


def test_a_directory_that_cannot_be_written_is_an_os_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError) as error:
        with tensorboard.once(tmp_path / "file" / "tensorboard", 0):
            tensorboard.scalar("x", 1.0)
    assert error.value.filename == str(tmp_path / "file" / "tensorboard")


def test_numbers_of_python_are_not_given_to_tensorflow(tmp_path, monkeypatch):
    """It would keep them forever; see also the slow test of the log."""
    given = []
    monkeypatch.setattr(
        "tensorflow.summary.scalar",
        lambda name, value, description: given.append(
            (type(value), type(tf.summary.experimental.get_step()))
        ),
    )
    with tensorboard.once(tmp_path, 3):
        tensorboard.scalar("x", 1.0)
    assert given == [(np.float32, np.int64)]

import pytest
import tensorflow as tf
from helpers import events

from srmcmc_tf.runs import tensorboard


def test_summaries_are_written_at_their_steps(tmp_path):
    writer = tensorboard.Writer(tmp_path / "tensorboard")
    for step in (3, 5):
        with writer.at(step):
            tf.summary.scalar("x", float(step))
    writer.close()
    assert [e.step for e in events(tmp_path).Tensors("x")] == [3, 5]


def test_a_directory_that_cannot_be_written_is_an_os_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError) as error:
        with tensorboard.once(tmp_path / "file" / "tensorboard", 0):
            tf.summary.scalar("x", 1.0)
    assert error.value.filename == str(tmp_path / "file" / "tensorboard")

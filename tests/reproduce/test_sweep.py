import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator,
)

from srmcmc_tf.reproduce import sweep
from srmcmc_tf.runs.run import Run


def read(directory):
    return EventAccumulator(
        str(directory), size_guidance={"tensors": 0}
    ).Reload()


def test_measurements_are_scalars_at_the_last_update(tmp_path):
    run = Run(tmp_path)
    sweep.log(run, 12, {"fid": 2.5, "is": None})
    events = read(run.tensorboard_directory)
    assert events.Tags()["tensors"] == ["evaluate/fid"]
    (fid,) = events.Tensors("evaluate/fid")
    assert fid.step == 12
    assert tf.make_ndarray(fid.tensor_proto) == 2.5


def test_the_columns_are_settings_and_metrics(tmp_path):
    sweep.describe(tmp_path, ["fid", "mse"])
    summary = read(tmp_path).SummaryMetadata("_hparams_/experiment")
    for name in (b"sigma", b"n_f", b"evaluate/fid", b"evaluate/mse"):
        assert name in summary.plugin_data.content

import keras
import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.distribution import replicas
from srmcmc_tf.models.trackers import Trackers


def test_means_are_weighted_by_rows_and_callbacks_get_single_values():
    trackers = Trackers(["f", "norm"])
    for n, value in ((3, 1.0), (1, 5.0)):
        _, rows = replicas.own_rows(tf.zeros([n, 2]))
        logs = trackers.update({"f": tf.constant(value)}, rows)
        assert float(logs["f"]) == value
    # `norm` was never added: not 0, but absent.
    assert {n: float(v) for n, v in trackers.result().items()} == {"f": 2.0}


def test_epoch_logs_and_evaluate_are_means_over_uneven_batches(tiny_model):
    generator = np.random.default_rng(0)
    x = generator.uniform(-1, 1, [11, 8, 8, 1]).astype(np.float32)
    single = []

    class See(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            single.append({k: float(v) for k, v in logs.items()})

    history = tiny_model.fit(
        x, batch_size=4, shuffle=False, verbose=0, callbacks=[See()]
    ).history
    assert len(single) == 3
    for name, (mean,) in history.items():
        values = [logs[name] for logs in single]
        expected = np.average(values, weights=[4, 4, 3])
        assert mean == pytest.approx(expected, rel=1e-5, abs=1e-6)
    logs = tiny_model.evaluate(x, batch_size=4, verbose=0, return_dict=True)
    f = tiny_model.predict(x, verbose=0)
    assert float(logs["f_data"]) == pytest.approx(float(f.mean()), rel=1e-4)

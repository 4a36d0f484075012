import json
import os
import pathlib
import types

import numpy as np
import pytest
from helpers import events, fit_updates
from tensorboard.util.tensor_util import make_ndarray

from srmcmc_tf.training.callbacks.log import Log


def metrics(workdir):
    return [json.loads(line) for line in open(workdir / "metrics.jsonl")]


def test_every_update_is_logged_in_both_places(tiny_model, tmp_path):
    fit_updates(tiny_model, [Log(tmp_path)])
    rows, found = metrics(tmp_path), events(tmp_path)
    assert [row["update"] for row in rows] == [1, 2, 3, 4]
    for name in rows[0].keys() - {"update"}:
        values = [
            float(make_ndarray(e.tensor_proto))
            for e in found.Tensors(f"train/{name}")
        ]
        np.testing.assert_allclose(
            values, [row[name] for row in rows], rtol=1e-6
        )
    assert rows[0]["updates_per_second"] > 0


def test_log_every_thins_the_log(tiny_model, tmp_path):
    fit_updates(tiny_model, [Log(tmp_path, every=2)])
    assert [row["update"] for row in metrics(tmp_path)] == [2, 4]


def test_a_log_continues_after_the_update_it_resumes_from(tiny_model, tmp_path):
    rows = [{"update": 1, "f_data": 0.5}, {"update": 2, "f_data": 0.6}]
    text = "\n".join(map(json.dumps, rows)) + '\n{"update": 3, "f_'
    (tmp_path / "metrics.jsonl").write_text(text)
    tiny_model.optimizer.iterations.assign(1)
    fit_updates(tiny_model, [Log(tmp_path)], n=2)
    assert [row["update"] for row in metrics(tmp_path)] == [1, 2, 3]
    assert metrics(tmp_path)[1]["f_data"] != 0.6


def test_a_value_that_is_not_finite_is_null(tiny_model, tmp_path):
    extra = {"unrest": float("nan")}
    fit_updates(tiny_model, [Log(tmp_path, extra=lambda: extra)], n=1)
    assert metrics(tmp_path)[0]["unrest"] is None
    assert "NaN" not in (tmp_path / "metrics.jsonl").read_text()


@pytest.mark.slow
def test_memory_stays_flat_over_20000_updates(tmp_path):
    """Without an update's cost: the log alone, as `fit` calls it."""
    log = Log(tmp_path)
    log.set_model(types.SimpleNamespace(update=0))
    log.on_train_begin()
    values = np.random.default_rng(0)
    used = []
    for update in range(1, 20_001):
        logs = {f"value_{i}": float(values.random()) for i in range(8)}
        log.on_update(update, logs)
        if update in (2_000, 20_000):
            pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
            used.append(int(pages) * os.sysconf("SC_PAGE_SIZE"))
    log.close()
    print("MB after 2,000 and 20,000 updates:", [n / 1e6 for n in used])
    assert used[1] - used[0] < 5e6  # 130 MB with numbers of Python


def test_broken_lines_of_a_log_do_not_stop_a_run(tiny_model, tmp_path):
    text = '{"update": 1, "f_data": 0.5}\n\0\0\n[]\n'
    (tmp_path / "metrics.jsonl").write_text(text)
    tiny_model.optimizer.iterations.assign(1)
    fit_updates(tiny_model, [Log(tmp_path)], n=1)
    assert [row["update"] for row in metrics(tmp_path)] == [1, 2]

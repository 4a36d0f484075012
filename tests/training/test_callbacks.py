import json

import numpy as np
import pytest
from helpers import events, random_images
from PIL import Image
from tensorboard.util.tensor_util import make_ndarray

from srmcmc_tf.data import pixels
from srmcmc_tf.errors import NonFiniteError, UserError
from srmcmc_tf.training import callbacks


def fit(model, calls, n=4, x=None):
    x = pixels.to_float(random_images(8)) if x is None else x
    model.fit(
        x, epochs=n, batch_size=8, shuffle=False, verbose=0, callbacks=calls
    )


def metrics(workdir):
    return [json.loads(line) for line in open(workdir / "metrics.jsonl")]


def test_every_update_is_logged_in_both_places(tiny_model, tmp_path):
    fit(tiny_model, [callbacks.Log(tmp_path)])
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
    fit(tiny_model, [callbacks.Log(tmp_path, every=2)])
    assert [row["update"] for row in metrics(tmp_path)] == [2, 4]


def test_a_log_goes_on_after_the_update_it_goes_on_from(tiny_model, tmp_path):
    rows = [{"update": 1, "f_data": 0.5}, {"update": 2, "f_data": 0.6}]
    text = "\n".join(map(json.dumps, rows)) + '\n{"update": 3, "f_'
    (tmp_path / "metrics.jsonl").write_text(text)
    tiny_model.optimizer.iterations.assign(1)
    fit(tiny_model, [callbacks.Log(tmp_path)], n=2)
    assert [row["update"] for row in metrics(tmp_path)] == [1, 2, 3]
    assert metrics(tmp_path)[1]["f_data"] != 0.6


def test_pictures_are_drawn_on_time_and_at_the_end(tiny_model, tmp_path):
    pictures = callbacks.Pictures(tmp_path, every=2, n=4, data=random_images(9))
    fit(tiny_model, [pictures], n=5)
    names = sorted(p.name for p in (tmp_path / "samples").iterdir())
    assert names == ["000002.png", "000004.png", "000005.png"]
    found = events(tmp_path)
    assert [e.step for e in found.Tensors("pictures/samples")] == [2, 4, 5]
    assert len(found.Tensors("pictures/data")) == 1
    assert len(found.Tensors("pictures/starts")) == 1
    Image.open(tmp_path / "samples" / "000005.png").verify()


def test_checkpoints_are_saved_on_time_and_at_the_end(tiny_model, tmp_path):
    saves = callbacks.Checkpoints(tmp_path, every=2)
    fit(tiny_model, [saves], n=5)
    assert [s.path.name for s in saves.saved] == ["000002", "000004", "000005"]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_non_finite_value_stops_and_is_named_before_it_is_saved(
    bad, tiny_model, tmp_path
):
    x = np.array(pixels.to_float(random_images(24)))
    x[16:] = bad  # the third update
    calls = [
        callbacks.StopOnNonFinite(),
        callbacks.Checkpoints(tmp_path, every=1),
    ]
    with pytest.raises(NonFiniteError, match="update 3: f_d"):
        fit(tiny_model, calls, n=1, x=x)
    newest = sorted((tmp_path / "checkpoints").iterdir())[-1]
    assert newest.name == "000002"


def test_broken_lines_of_a_log_do_not_stop_a_run(tiny_model, tmp_path):
    text = '{"update": 1, "f_data": 0.5}\n\0\0\n[]\n'
    (tmp_path / "metrics.jsonl").write_text(text)
    tiny_model.optimizer.iterations.assign(1)
    fit(tiny_model, [callbacks.Log(tmp_path)], n=1)
    assert [row["update"] for row in metrics(tmp_path)] == [1, 2]


def test_checkpoints_of_another_run_are_not_written_over(tiny_model, tmp_path):
    (tmp_path / "checkpoints" / "000009").mkdir(parents=True)
    with pytest.raises(UserError, match="000009 is later than update 0"):
        fit(tiny_model, [callbacks.Checkpoints(tmp_path)], n=1)

import json

import pytest
from hypothesis import given
from strategies import changed, damaged

from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import metrics_log


def lines(*updates):
    return "".join(
        json.dumps({"update": u, "loss": 0.5}) + "\n" for u in updates
    )


def test_half_a_line_at_the_end_was_never_written(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text(lines(1, 2) + '{"update": 3, "lo')
    assert [one["update"] for one in metrics_log.read(path)] == [1, 2]
    metrics_log.resume(path, 3)
    assert path.read_text() == lines(1, 2)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("damage", ["{", "[]", "\0\0", '{"update": NaN}', "{}"])
def test_a_damaged_line_is_named_and_never_lost(tmp_path, damage, caplog):
    path = tmp_path / "metrics.jsonl"
    content = f"{lines(1)}{damage}\n{lines(3, 4)}"
    path.write_text(content)
    with pytest.raises(UserError, match="line 2, is damaged"):
        metrics_log.read(path)
    metrics_log.resume(path, 3)
    assert path.read_text() == lines(1, 3)
    (copy,) = tmp_path.glob("metrics.jsonl.damaged-*")
    assert copy.read_text() == content and copy.name in caplog.text


def test_a_value_that_was_not_finite_is_null(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"update": 1, "loss": null}\n')
    assert metrics_log.read(path) == [{"update": 1, "loss": None}]


LINE = {"update": 1, "loss": 0.5}


@given(changed(LINE).map(str.encode) | damaged(json.dumps(LINE)))
def test_any_line_is_read_or_one_line(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("run") / "metrics.jsonl"
    path.write_bytes(content + b"\n")
    try:
        found = metrics_log.read(path)
    except UserError as error:
        assert "metrics.jsonl, line 1" in str(error)
    else:
        assert all(type(one["update"]) is int for one in found)

import json

import pytest
from hypothesis import given
from strategies import changed, damaged

from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.evaluations import Evaluations


def test_evaluations_survive_and_later_ones_are_dropped(tmp_path):
    path = tmp_path / "evaluations.json"
    records = {u: {"fid": {"value": float(u)}} for u in (10, 20, 30)}
    Evaluations(path).write(records)
    assert Evaluations(path).read() == records
    assert list(Evaluations(path).resume(20)) == [10, 20]
    assert list(Evaluations(path).read()) == [10, 20]


def test_a_missing_file_holds_none(tmp_path):
    assert Evaluations(tmp_path / "evaluations.json").read() == {}


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", '{"x": {}}', '{"5": {"a": 1}}'),
        '{"' + "9" * 5000 + '": {}}',
    ],
)
def test_a_damaged_file_is_named_and_kept(tmp_path, text):
    path = tmp_path / "evaluations.json"
    path.write_text(text)
    with pytest.raises(UserError, match="evaluations.json is damaged"):
        Evaluations(path).resume(10)
    assert path.read_text() == text


SOUND = {"10": {"fid": {"value": 2.5, "n": 9}}, "20": {}}


@given(changed(SOUND).map(str.encode) | damaged(json.dumps(SOUND)))
def test_any_file_is_read_or_one_line(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("run") / "evaluations.json"
    path.write_bytes(content)
    try:
        found = Evaluations(path).read()
    except UserError as error:
        assert "evaluations.json" in str(error)
    else:
        assert all(type(update) is int for update in found)
    assert path.read_bytes() == content

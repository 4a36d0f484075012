"""Record files: of one model, and known by the request."""

import json

import pytest
from hypothesis import given
from strategies import changed, damaged

from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation.records import RecordFile


def test_records_are_stored_with_their_request(tmp_path):
    path = tmp_path / "new" / "evaluation.json"
    RecordFile(path, "model 1").add({"fid": {"value": 2.5, "n": 9}}, "n=9")
    again = RecordFile(path, "model 1")
    assert again.has("fid", "n=9")
    assert not again.has("fid", "n=8") and not again.has("kid", "n=9")
    assert json.loads(path.read_text()) == {
        "identity": "model 1",
        "records": {"fid": {"value": 2.5, "n": 9, "request": "n=9"}},
    }


def test_records_of_another_model_are_replaced(tmp_path):
    path = tmp_path / "evaluation.json"
    RecordFile(path, "model 1").add({"fid": {"value": 2.5}}, "n=9")
    other = RecordFile(path, "model 2")
    other.add({"kid": {"value": 0.1}}, "n=9")
    assert list(other.records) == ["kid"]
    assert not RecordFile(path, "model 1").records


@pytest.mark.parametrize("text", ["", "{", "[]", '{"identity": "model 1"}'])
def test_a_damaged_file_is_named_and_kept(text, tmp_path):
    path = tmp_path / "evaluation.json"
    path.write_text(text)
    with pytest.raises(UserError, match="evaluation.json is damaged"):
        RecordFile(path, "model 1")
    assert path.read_text() == text


SOUND = {
    "identity": "a",
    "records": {"fid": {"value": 2.5, "n": 9, "request": "n=9"}},
}


@given(changed(SOUND).map(str.encode) | damaged(json.dumps(SOUND)))
def test_any_file_is_read_or_one_line(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("run") / "evaluation.json"
    path.write_bytes(content)
    try:
        found = RecordFile(path, "a")
    except UserError as error:
        assert "evaluation.json" in str(error)
    else:
        assert all("value" in one for one in found.records.values())
    assert path.read_bytes() == content

import pytest

from srmcmc_tf.runs.evaluations import Evaluations


def test_evaluations_survive_and_later_ones_are_dropped(tmp_path):
    path = tmp_path / "evaluations.json"
    records = {u: {"fid": {"value": float(u)}} for u in (10, 20, 30)}
    Evaluations(path).write(records)
    assert Evaluations(path).read() == records
    assert list(Evaluations(path).resume(20)) == [10, 20]
    assert list(Evaluations(path).read()) == [10, 20]


@pytest.mark.parametrize("text", [None, "", "[]", "{", '{"x": {}}'])
def test_a_missing_or_damaged_file_holds_none(tmp_path, text):
    path = tmp_path / "evaluations.json"
    if text is not None:
        path.write_text(text)
    assert Evaluations(path).read() == {}

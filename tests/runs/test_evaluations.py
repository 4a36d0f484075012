import pytest

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

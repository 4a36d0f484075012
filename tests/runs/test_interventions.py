import json

import pytest
from hypothesis import given
from strategies import changed, damaged

from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.interventions import Interventions, describe

ONE = {
    "number": 1,
    "update": 1234,
    "reason": "unrest 7.0",
    "sigma": 0.05,
    "back_to": 1000,
    "seed": 5,
    "sigma_least": 0.07,
}


def lines(path):
    return path.read_text().splitlines()


@pytest.mark.parametrize(
    "gone_back_to, update, count",
    [
        ([500], 500, 1),
        ([500], 700, 1),
        ([500], 300, 0),
        ([500, 700], 500, 1),
        ([500, 700, 500], 500, 3),
        ([700, 500], 500, 2),
        ([], 0, 0),
    ],
)
def test_a_checkpoint_determines_the_interventions_that_led_to_it(
    gone_back_to, update, count, tmp_path
):
    path = tmp_path / "interventions.jsonl"
    Interventions(path).write(
        [
            {**ONE, "number": i, "back_to": u}
            for i, u in enumerate(gone_back_to, 1)
        ]
    )
    assert len(Interventions(path).up_to(update)) == count
    assert len(lines(path)) == len(gone_back_to)  # a look changes nothing
    assert len(Interventions(path).resume(update)) == count
    assert len(lines(path)) == count


def test_a_description_names_updates_and_the_new_sigma():
    one = {**ONE, "number": 2}
    text = describe(one)
    assert "update 1,234: unrest 7.0; intervention 2 of at most 10" in text
    assert text.endswith("with another seed and sigma not below 0.07")
    assert describe({**one, "sigma_least": 0}).endswith("with another seed")


@pytest.mark.parametrize(
    "changes",
    [
        {"back_to": float("nan")},
        {"back_to": None},
        {"number": 2},
        {"sigma_least": True},
        {"reason": 7},
    ],
)
def test_a_damaged_file_is_named_and_kept(tmp_path, changes):
    path = tmp_path / "interventions.jsonl"
    path.write_text(json.dumps({**ONE, **changes}) + "\n")
    before = path.read_bytes()
    with pytest.raises(UserError, match="interventions.jsonl.* is damaged"):
        Interventions(path).resume(2000)
    assert path.read_bytes() == before


@given(changed(ONE).map(str.encode) | damaged(json.dumps(ONE)))
def test_any_file_is_read_or_one_line(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("run") / "interventions.jsonl"
    path.write_bytes(content)
    try:
        found = Interventions(path).up_to(10**9)
    except UserError as error:
        assert "interventions.jsonl" in str(error)
    else:
        assert [one["number"] for one in found] == [1][: len(found)]
    assert path.read_bytes() == content

import json

import pytest

from srmcmc_tf.runs.interventions import Interventions, describe


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
    text = [json.dumps({"back_to": update}) for update in gone_back_to]
    path.write_text("\n".join(text))
    assert len(Interventions(path).up_to(update)) == count
    assert len(lines(path)) == len(gone_back_to)  # a look changes nothing
    assert len(Interventions(path).resume(update)) == count
    assert len(lines(path)) == count


def test_a_description_names_updates_and_the_new_sigma():
    one = {
        "number": 2,
        "update": 1234,
        "reason": "unrest 7.0",
        "back_to": 1000,
        "sigma_least": 0.07,
    }
    text = describe(one)
    assert "update 1,234: unrest 7.0; intervention 2 of at most 10" in text
    assert text.endswith("with another seed and sigma not below 0.07")
    assert describe({**one, "sigma_least": 0}).endswith("with another seed")

import pytest

from srmcmc_tf.config import config, fields
from srmcmc_tf.errors import UserError


@pytest.mark.parametrize("text", ["20,", "0", "1.5", "20;10", "x"])
def test_several_numbers_are_checked_one_by_one(text):
    with pytest.raises(UserError) as error:
        config.parse("coarse_K", text)
    assert str(error.value) == (
        f"--coarse_K={text}: must be whole numbers with commas between, each "
        "1 to 100,000"
    )
    assert config.parse("coarse_K", "20,10") == "20,10"


def test_parts_are_numbers():
    assert fields.parts("0.5,1", float) == [0.5, 1.0]
    assert fields.parts("", int) == []


def test_the_nearest_name_is_suggested():
    assert fields.suggest("sigmma", ["K", "sigma"]) == "; did you mean 'sigma'?"
    assert fields.suggest("zzz", ["K", "sigma"]) == ""

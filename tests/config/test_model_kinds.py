import pytest

from srmcmc_tf.config import presets
from srmcmc_tf.config.config import FIELDS
from srmcmc_tf.config.model_kinds import MODEL_KINDS
from srmcmc_tf.errors import UserError


def test_a_flag_that_means_nothing_to_a_model_is_refused_with_the_reason():
    with pytest.raises(UserError, match="--K is not for --model=vae: it runs"):
        MODEL_KINDS["vae"].check_flags({"n_f": 4, "K": 5})
    MODEL_KINDS["ebm"].check_flags(FIELDS)


@pytest.mark.parametrize(
    "name, flag",
    [
        ("vae", "noise"),
        ("vae", "sigma"),
        ("dcgan", "trace"),
        ("dcgan", "deterministic"),
        ("vae", "iterations"),
        ("vae", "task"),
        ("dcgan", "rule"),
    ],
)
def test_flags_of_the_chain_are_not_for_baselines(name, flag):
    with pytest.raises(UserError, match=f"--{flag} is not for") as error:
        MODEL_KINDS[name].check_flags([flag])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["vae", "dcgan"])
def test_baselines_are_given_their_data_without_noise(name):
    assert presets.load("digits", name).sigma == 0.0


def test_a_model_changes_only_settings_that_exist():
    for kind in MODEL_KINDS.values():
        assert set(kind.changes) <= set(FIELDS)

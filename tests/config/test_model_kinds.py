import pytest

from srmcmc_tf.config.config import FIELDS
from srmcmc_tf.config.model_kinds import MODEL_KINDS
from srmcmc_tf.errors import UserError


def test_a_flag_that_means_nothing_to_a_model_is_refused_with_the_reason():
    with pytest.raises(UserError, match="--K is not for --model=vae: it runs"):
        MODEL_KINDS["vae"].check_flags({"n_f": 4, "K": 5})
    MODEL_KINDS["ebm"].check_flags(FIELDS)


def test_a_model_changes_only_settings_that_exist():
    for kind in MODEL_KINDS.values():
        assert set(kind.changes) <= set(FIELDS)

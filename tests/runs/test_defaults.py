import pytest

from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import defaults


def test_the_recipe_follows_what_was_given():
    given = {"dataset": "folder", "recipe": "pyramid", "image_size": 64}
    config = defaults.new_config(given)
    assert [scale.size for scale in config.scales] == [8, 16, 32, 64]
    assert config.recipe == "pyramid" and config.dataset == "folder"


def test_flags_that_mean_nothing_to_the_model_are_refused():
    with pytest.raises(UserError, match="--recipe is not for --model=vae"):
        defaults.new_config({"model": "vae", "recipe": "pyramid"})

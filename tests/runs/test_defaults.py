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


@pytest.mark.parametrize(
    "given", [{"n_f": 4}, {"image_size": 16}, {"channels": 3}]
)
def test_a_preset_of_other_networks_is_refused_before_a_run_begins(given):
    with pytest.raises(UserError, match="--from=preset:digits has other"):
        defaults.new_config({"initial": "preset:digits", **given})


@pytest.mark.parametrize(
    "given, refusal",
    [
        ({"recipe": "paper"}, "--recipe=paper: --from=preset:digits has"),
        ({"dataset": "toy_2d"}, "is a model of images; toy_2d are points"),
    ],
)
def test_a_preset_keeps_its_recipe_and_its_kind_of_data(given, refusal):
    with pytest.raises(UserError, match=refusal):
        defaults.new_config({"initial": "preset:digits", **given})


def test_an_automatic_sigma_of_a_tuned_preset_is_that_of_all_stages():
    given = {"initial": "preset:digits", "sigma": "auto"}
    assert defaults.new_config(given).coarse_sigma == ""
    with pytest.raises(UserError, match="no --coarse_sigma"):
        defaults.new_config({**given, "coarse_sigma": "0.05"})


def test_the_decays_of_a_tuned_preset_end_with_its_updates():
    given = {"initial": "preset:digits", "updates": 500}
    tuned = defaults.new_config(given)
    fresh = {"dataset": "digits", "recipe": "pyramid", "updates": 500}
    for name in ("anneal_after", "learning_rate_half_life", "sigma_half_life"):
        expected = getattr(defaults.new_config(fresh), name)
        assert getattr(tuned, name) == expected < 500
    chosen = defaults.new_config({**given, "anneal_after": 7})
    assert chosen.anneal_after == 7


def test_a_tuned_preset_begins_to_decay_where_it_is_told():
    given = {"initial": "preset:digits", "updates": 500, "anneal_after": 400}
    fresh = {"dataset": "digits", "recipe": "pyramid", **given, "initial": ""}
    half_lives = [
        defaults.new_config(one).learning_rate_half_life
        for one in (given, fresh)
    ]
    assert half_lives == [30, 30]


def test_a_tuned_preset_takes_the_data_settings_of_another_dataset():
    given = {"initial": "preset:cifar10", "dataset": "mnist"}
    tuned = defaults.new_config(given)
    assert (tuned.dataset, tuned.flip, tuned.image_size) == ("mnist", "off", 32)
    assert defaults.new_config({**given, "flip": "on"}).flip == "on"

import pytest

from srmcmc_tf.config import presets
from srmcmc_tf.config.datasets import DATASETS
from srmcmc_tf.errors import UserError

POINTS = [name for name, dataset in DATASETS.items() if dataset.points]
IMAGES = [name for name, dataset in DATASETS.items() if not dataset.points]


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("size", [8, 16, 64, None])
def test_the_recipe_fits_every_dataset_and_size(name, size):
    given = {} if size is None else {"image_size": size}
    config = presets.load(name, recipe="pyramid", given=given)
    sizes = [scale.size for scale in config.scales]
    assert sizes[-1] == config.image_size and config.recipe == "pyramid"
    assert sizes[0] == (4 if config.image_size == 8 else 8)


@pytest.mark.parametrize("name", POINTS)
def test_the_recipe_is_refused_for_points(name):
    with pytest.raises(UserError, match="--recipe=pyramid is for images"):
        presets.load(name, recipe="pyramid")


def test_the_papers_recipe_stays_as_it_is():
    for name in IMAGES:
        config = presets.load(name)
        assert (config.recipe, config.network, config.flip) == (
            "paper",
            "paper",
            "off",
        )
        assert (config.noise_decay, config.warm_up, config.beta_1) == (
            0,
            0,
            0.9,
        )
        assert len(config.scales) == 1


def test_the_decays_end_with_the_updates_wherever_they_begin():
    for updates, begin in ((1_000, {}), (8_000, {"anneal_after": 6_000})):
        given = {"updates": updates, **begin}
        config = presets.load("cifar10", recipe="pyramid", given=given)
        halvings = (updates - config.anneal_after) / (
            config.learning_rate_half_life
        )
        assert 0.5**halvings == pytest.approx(0.1, rel=0.01)


def test_what_was_given_is_not_changed():
    config = presets.load("cifar10", recipe="pyramid", given={"n_f": 8, "K": 3})
    assert (config.n_f, config.K, config.coarse_K) == (8, 3, "20,10")


def test_an_automatic_sigma_is_that_of_all_stages():
    config = presets.load("digits", recipe="pyramid", given={"sigma": "auto"})
    assert [scale.sigma for scale in config.scales] == ["auto", "auto"]

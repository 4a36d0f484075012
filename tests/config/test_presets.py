import pytest

from srmcmc_tf.config import presets
from srmcmc_tf.config.datasets import DATASETS


@pytest.mark.parametrize("name", DATASETS)
def test_every_dataset_has_a_config_with_its_command_and_cost(name):
    assert presets.load(name).dataset == name
    text = presets.describe(name)
    command = "bin/train" if name == "digits" else f"bin/train --dataset={name}"
    for word in (command, "Cost:", "Expect:"):
        assert word in text


def test_the_papers_settings_stand_in_its_configs():
    for name in ("cifar10", "celeb_a", "lsun_bedroom"):
        paper = presets.load(name)
        assert (paper.K, paper.sigma, paper.batch_size) == (100, 0.03, 64)
        assert (paper.step_size, paper.noise) == (1.0, 0.01)
        assert (paper.learning_rate, paper.anneal_after) == (1e-4, 200_000)
        assert (paper.n_examples, paper.n_left_out) == (40_000, 1_000)
    sizes = {
        "cifar10": (32, 128),
        "celeb_a": (64, 64),
        "lsun_bedroom": (64, 64),
    }
    for name, (size, n_f) in sizes.items():
        assert (presets.load(name).image_size, presets.load(name).n_f) == (
            size,
            n_f,
        )


def test_the_average_is_off_in_the_papers_configs():
    for name in ("cifar10", "celeb_a", "celeb_a_128", "lsun_bedroom"):
        assert presets.load(name).ema == 0.0

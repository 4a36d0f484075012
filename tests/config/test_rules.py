import pytest

from srmcmc_tf.config import presets
from srmcmc_tf.config.config import Config
from srmcmc_tf.errors import UserError


@pytest.mark.parametrize(
    "dataset, given, message",
    [
        ("cifar10", dict(coarse_K="9,9,9"), "begin below the 8x8"),
        ("digits", dict(coarse_K="9,9", network="pooled"), "below the 4x4"),
        ("cifar10", dict(coarse_K="9", coarse_sigma="1,1"), "one for each"),
        ("cifar10", dict(coarse_sigma="1"), "one for each"),
        ("cifar10", dict(recipe="pyramid"), "needs --coarse_K"),
        ("cifar10", dict(start_noise=0.3), "--start_noise=0.3: only for"),
        ("toy_2d", dict(coarse_K="9"), "toy_2d are points"),
        ("toy_2d", dict(flip="on"), "--flip=on is for images"),
        ("toy_2d", dict(network="pooled"), "--network=pooled is for images"),
        (
            "cifar10",
            dict(coarse_K="9", coarse_sigma="1", sigma="auto"),
            "no --coarse_sigma",
        ),
        ("digits", dict(sigma="auto", guard="off"), "needs --guard=on"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    dataset, given, message
):
    with pytest.raises(UserError, match=message):
        presets.load(dataset, given=given)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (dict(classes=3), "--classes=3: only for --conditional"),
        (
            dict(conditional="on", dataset="toy_1d", toy="mixtures"),
            "--conditional: toy_1d has no labels",
        ),
        (
            dict(conditional="on", start="persistent"),
            "--conditional: not for --start=persistent",
        ),
    ],
)
def test_an_energy_per_class_needs_labels_and_starts_without(settings, line):
    with pytest.raises(UserError, match=line):
        Config(**settings)

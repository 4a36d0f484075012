import dataclasses

import pytest

from srmcmc_tf.config import chain_settings, config, masks, upgrade
from srmcmc_tf.config.config import Config
from srmcmc_tf.errors import UserError


def test_the_paper_s_chain_is_the_default():
    assert (Config().start, Config().kernel, Config().stop) == (
        "noise",
        "langevin",
        "K",
    )


def test_runs_of_before_had_the_defaults():
    added = dict(upgrade.ADDED)
    for name in chain_settings.NAMES:
        assert added[name] == getattr(Config(), name)


def test_help_shows_these_settings_last():
    groups = [field.metadata["group"] for field in config.FIELDS.values()]
    assert groups.count(chain_settings.GROUP) == len(chain_settings.NAMES)
    assert set(groups[-len(chain_settings.NAMES) :]) == {chain_settings.GROUP}


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (dict(bank=64), "--bank=64: only for --start=persistent"),
        (dict(leapfrog=2), "--leapfrog=2: only for --kernel=hmc"),
        (dict(stop_below=1.0), "--stop_below=1.0: only for --stop=slope"),
        (dict(stop="slope"), "--stop=slope: needs --stop_below"),
        (dict(mask="left"), "--mask=left: only for --start=degraded --"),
        (dict(start="dataset"), "needs --start_dir=FOLDER"),
        (dict(start="persistent", K=0), "--K=0: must be a whole number, 1 to"),
        (
            dict(start="persistent", bank=32, batch_size=64),
            "--bank=32: must be at least --batch_size=64",
        ),
        (dict(kernel="mala", clamp=1.0), "would break the Metropolis"),
        (
            dict(start="degraded", mask=masks.encode([[1, 0], [0, 1]])),
            "--mask: the mask is 2x2, the images are 32x32",
        ),
        (
            dict(start="degraded", task="upscale", factor=3),
            "--factor=3: must divide --image_size=32",
        ),
        (
            dict(start="degraded", task="colorize", channels=1),
            "the images are gray",
        ),
        (
            dict(start="degraded", task="upscale", clamp=1.0),
            "would change what --task=upscale holds",
        ),
        (
            dict(start="degraded", dataset="toy_2d", toy="pinwheel"),
            "for images; toy_2d are points",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_refused_in_one_line(
    settings, line
):
    with pytest.raises(UserError) as error:
        dataclasses.replace(Config(), **settings)
    assert line in str(error.value) and "\n" not in str(error.value)

import dataclasses

import pytest

from srmcmc_tf.config import presets, upgrade
from srmcmc_tf.config.config import FIELDS

VALUES = dataclasses.asdict(presets.load("digits"))
# The settings of format 2, to which ADDED has been appended since.
FIRST = {
    *("dataset", "data_dir", "toy", "image_size", "channels", "n_examples"),
    *("n_left_out", "model", "n_f", "K", "step_size", "noise", "precision"),
    *("jit_compile", "updates", "batch_size", "learning_rate", "sigma"),
    *("anneal_after", "learning_rate_half_life", "sigma_half_life", "guard"),
    *("ema", "seed", "strategy", "log_every", "sample_every"),
    *("checkpoint_every", "evaluate_every", "evaluate_n", "inception"),
}


def test_every_setting_has_a_line_in_added():
    added = [name for name, _ in upgrade.ADDED]
    assert len(set(added)) == len(added)
    assert FIRST | set(added) == FIELDS.keys(), (
        "append a line to ADDED in srmcmc_tf/config/upgrade.py"
    )


@pytest.mark.parametrize("written", [1, 2])
def test_settings_added_since_get_the_value_of_old_runs(monkeypatch, written):
    monkeypatch.setattr(upgrade, "ADDED", (("a", 1), ("b", 2)))
    found = upgrade.upgrade({name: VALUES[name] for name in FIRST}, written)
    assert (found["a"], found["b"]) == (1, 2)


def test_settings_older_than_the_file_get_none(monkeypatch):
    monkeypatch.setattr(upgrade, "ADDED", (("a", 1), ("b", 2)))
    assert upgrade.upgrade({}, 3) == {"b": 2}
    assert upgrade.upgrade({}, 4) == {}


def test_the_earliest_runs_had_no_baselines_toys_and_guard():
    added = "model evaluate_every evaluate_n inception toy guard ema strategy"
    values = {n: v for n, v in VALUES.items() if n not in added.split()}
    found = upgrade.upgrade(values, 1)
    assert found["model"] == "ebm" and found["guard"] == "off"
    assert "guard" not in upgrade.upgrade({**values, "strategy": "one"}, 1)

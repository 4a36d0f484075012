"""Settings that runs of an earlier version lack, and what they did without.

The format of `config.json` grows by one with each setting, so that a setting
that is missing from a file is never replaced by a default, unless the file is
older than the setting.
"""

from typing import Any

# To add a field to `Config`, append one line here: its name, and the value with
# which runs of before do what they did. Never change or reorder the others.
ADDED: tuple[tuple[str, Any], ...] = (
    ("recipe", "paper"),
    ("network", "paper"),
    ("coarse_K", ""),
    ("start_noise", 0.1),
    ("noise_decay", 0.0),
    ("flip", "off"),
    ("beta_1", 0.9),
    ("warm_up", 0),
    ("coarse_sigma", ""),
    ("initial", ""),
    ("start", "noise"),
    ("start_dir", ""),
    ("bank", 10_000),
    ("reinitialize", 0.05),
    ("task", "inpaint"),
    ("mask", "center"),
    ("factor", 4),
    ("hold", "on"),
    ("kernel", "langevin"),
    ("leapfrog", 5),
    ("metropolis", "on"),
    ("clip", 0.0),
    ("clamp", 0.0),
    ("stop", "K"),
    ("stop_below", 0.0),
    ("conditional", "off"),
    ("classes", 0),
)

# The same for format 1, which did not grow: the order tells what was there.
_ADDED_IN_FORMAT_1 = (
    ("model", "ebm"),
    ("evaluate_every", 0),
    ("evaluate_n", 5_000),
    ("inception", ""),
    ("toy", ""),
    ("guard", "off"),
    ("ema", 0.0),
    ("strategy", "auto"),
)

FORMAT = 2 + len(ADDED)


def upgrade(values: dict[str, Any], written: int) -> dict[str, Any]:
    """Adds the settings that did not exist when a config was written.

    Args:
        values: settings by name.
        written: the format of their file, 1 to `FORMAT`.

    Returns:
        The settings, with those added since. One that is missing for another
        reason stays missing.
    """
    added = list(ADDED[max(written - 2, 0) :])
    if written == 1:
        first = list(_ADDED_IN_FORMAT_1)
        while first and first[0][0] in values:
            del first[0]
        # Otherwise later ones are there: this one was lost.
        if not any(name in values for name, _ in first):
            added = first + added
    return {**dict(added), **values}

"""The settings of a reproduction at three scales.

`paper` is the paper's own setting. `cpu` asks the same question of smaller
networks, fewer updates and fewer samples, on the same data. `smoke` only
executes every step once, on the embedded digits.
"""

import dataclasses
import os
from typing import Any

from srmcmc_tf.config import presets
from srmcmc_tf.config.config import Config

SCALES = ("paper", "cpu", "smoke")
# Samples to measure FID, KID and IS on. Fewer than Inception has features
# (2,048) bias FID, equally for all runs of a table; a warning is logged.
N = {"paper": 40_000, "cpu": 1_000, "smoke": 64}
# Left-out examples to reconstruct: each takes 200 descents through K steps.
N_MSE = {"paper": 1_000, "cpu": 10, "smoke": 8}

_CPU: dict[str, Any] = dict(
    image_size=32,
    n_examples=2_500,
    n_left_out=100,
    batch_size=16,
    updates=400,
    learning_rate_half_life=0,
    sigma_half_life=0,
    sample_every=200,
    checkpoint_every=100,
)
# For so few updates; with n_f=16 instead of 32, K=5 and K=25 diverged at it.
_CPU_RATE = 5e-4
# Tables compare runs, so these are small enough for thousands of updates. Rate,
# beta_1 and average are not the paper's, and the same in all rows. The rate
# falls to a tenth over the second half, where quality comes to rest.
_CPU_TABLE: dict[str, Any] = _CPU | dict(
    image_size=16, updates=3_000, sample_every=500, checkpoint_every=250
)
_CPU_CHAIN: dict[str, Any] = dict(
    beta_1=0.5,
    ema=0.998,
    anneal_after=1_500,
    learning_rate_half_life=452,
)
_CPU_N_F = 16
_SMOKE: dict[str, Any] = dict(
    n_examples=200,
    n_left_out=8,
    n_f=4,
    updates=6,
    batch_size=8,
    anneal_after=4,
    sample_every=3,
    checkpoint_every=3,
)


def config(
    dataset: str,
    scale: str,
    data_dir: str,
    model: str = "ebm",
    table: bool = False,
    cpu: dict[str, Any] | None = None,
    **settings: Any,
) -> Config:
    """Returns the paper's config with some settings, reduced to a scale.

    Args:
        dataset: name of a config.
        scale: one of `SCALES`.
        data_dir: directory of the datasets.
        model: "ebm" or a baseline.
        table: whether runs are compared, and so must settle.
        cpu: settings of a table's run at scale `cpu`, where they are smaller.
        **settings: the paper's, where its config has others.
    """
    paper = dataclasses.replace(presets.load(dataset, model), **settings)
    if scale == "smoke":
        # The embedded digits replace every dataset, and runs that differ by K
        # alone replace all others: most of a short run is its start.
        digits = presets.load("digits", model)
        K = max(paper.K // 25, 1)
        return dataclasses.replace(digits, **_SMOKE, K=K)
    folder = os.path.join(data_dir, dataset.removesuffix("_128"))
    where = folder if os.path.isdir(folder) and data_dir else data_dir
    if scale == "cpu":
        changes = {"n_f": 32, **_CPU}
        if table:
            changes = {"n_f": _CPU_N_F, **_CPU_TABLE}
        if paper.kind.has_chain:
            changes |= {"learning_rate": _CPU_RATE}
            changes |= _CPU_CHAIN if table else {}
        changes |= cpu or {}
        paper = dataclasses.replace(paper, **changes)
    else:  # the paper had no guard
        paper = dataclasses.replace(paper, guard="off")
    return dataclasses.replace(paper, data_dir=where)


def toy(name: str, scale: str) -> Config:
    """Returns the config of a toy, which is small enough at any scale."""
    found = presets.load(name)
    return dataclasses.replace(found, updates=6) if scale == "smoke" else found

"""What the chains of samples cost: steps and evaluations of f'."""

from typing import NamedTuple

import numpy as np

from srmcmc_tf.generation.sample_file import BATCH
from srmcmc_tf.models import scales
from srmcmc_tf.models.short_run import ShortRunEBM
from srmcmc_tf.sampling import rng


class Cost(NamedTuple):
    """What a chain costs, on average over the first seeds.

    Attributes:
        steps: made by a chain.
        spread: standard deviation of `steps`.
        evaluations: of the gradient f'.
    """

    steps: float
    spread: float
    evaluations: float


def measure(
    model: ShortRunEBM,
    seeds: list[int],
    labels: list[int] | None,
    *,
    K: int,
    noise: float | None,
) -> Cost:
    """Measures what the chains of the first seeds cost.

    Args:
        model: runs them.
        seeds: integers [n].
        labels: of a conditional model, integers [n].
        K: most steps of a chain.
        noise: factor of the noise, by default that of the training.
    """
    if all(stage.stop.rule == "K" for stage in model.stages):
        return Cost(K, 0.0, K * model.stages[-1].kernel.evaluations)
    some = seeds[:BATCH]
    y = model.labels_of(some, labels and labels[:BATCH])
    stages, each = model.stages, [stage.K for stage in model.stages]
    starts = scales.split(model.start(some), [s.image_shape for s in stages])
    streams = model.with_streams(rng.stream_per_row(some))
    x, steps, cost = None, 0, 0
    for i, (stage, own) in enumerate(streams):
        own_K = scales.steps_within(i, K, each)
        x = stage.begin(starts[i], x, own_K > 0)
        ran = stage.run(x, own, *y, K=own_K, noise=noise)
        x, steps, cost = ran.x, steps + ran.steps, cost + ran.evaluations
    counts = [np.asarray(n, float) for n in (steps, cost)]
    return Cost(counts[0].mean(), counts[0].std(), counts[1].mean())

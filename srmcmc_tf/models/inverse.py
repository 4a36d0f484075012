"""The chains of all stages as one function of z that has a gradient."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from srmcmc_tf.models import scales
from srmcmc_tf.models.stage import Stage
from srmcmc_tf.sampling import inversion


def with_pullback(
    stages: Sequence[Stage], z: tf.Tensor, K: Any, *y: tf.Tensor
) -> tuple[tf.Tensor, inversion.Pullback]:
    """The ends of chains without noise, and how a gradient comes back.

    See `inversion.with_pullback`; this is the same for all stages.

    Args:
        stages: coarse to fine.
        z: the starts of all stages, as of `Sampler.start`.
        K: steps of all stages together.
        *y: the labels of the chains, if the energies are conditional.
    """
    each = [stage.K for stage in stages]
    starts = scales.split(z, [stage.image_shape for stage in stages])
    x, backs, factors = None, [], []
    for i, (stage, start) in enumerate(zip(stages, starts, strict=True)):
        steps = scales.steps_within(i, K, each)
        x = stage.begin(start, x, steps > 0)
        x, back = inversion.with_pullback(
            stage.given(*y), x, K=steps, step_size=stage.step_size
        )
        backs.append(back)
        factors.append(tf.where(steps > 0, stage.start_noise, 0.0))

    def pullback(gradient: tf.Tensor) -> tf.Tensor:
        found: list[tf.Tensor] = []
        for i in range(len(backs) - 1, 0, -1):
            gradient = backs[i](gradient)
            found.insert(0, factors[i] * gradient)
            gradient = scales.add_up(gradient, stages[i - 1].image_shape)
        return scales.join([backs[0](gradient), *found])

    return x, pullback

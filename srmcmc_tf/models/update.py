"""What `train_step` computes: f on data and samples, and a descent step."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.distribution import replicas
from srmcmc_tf.models import conditional
from srmcmc_tf.models.generator import Generator
from srmcmc_tf.sampling.chain import Chain

QUANTITIES = (
    "loss",
    "f_data",
    "f_samples",
    "f_difference",
    "f_prime_norm",
    "out_of_range",
    "gradient_norm",
    # Of chains that may reject a step or stop early; see `Stage.statistics`.
    "accepted",
    "steps",
    "steps_spread",
    "evaluations",
    # Of a conditional model whose head gives all classes at once.
    "accuracy",
)


def compare(
    stages: Sequence[tuple[keras.Model, tf.Tensor, Chain]],
    y: Sequence[tf.Tensor] = (),
    *,
    training: bool,
) -> dict[str, tf.Tensor]:
    """The quantities of all stages: sums, but means of the last two.

    Args:
        stages: for each, its energy, data [n, ...] and as many chains.
        y: the labels of the data and of the chains, if the energies are
            conditional: a list of one tensor [n].
        training: whether layers such as Dropout are active.

    Returns:
        All `QUANTITIES` but the last, float32 scalars: means over the rows.
    """
    each = [_compare(*stage, y, training=training) for stage in stages]
    accuracy = _accuracy(*stages[-1][:2], y)
    if len(each) == 1:
        return each[0] | accuracy
    logs = {name: tf.add_n([logs[name] for logs in each]) for name in each[0]}
    for name in ("f_prime_norm", "out_of_range"):
        logs[name] /= len(each)
    return logs | accuracy


def _compare(
    energy: keras.Model,
    x: tf.Tensor,
    ran: Chain,
    y: Sequence[tf.Tensor],
    *,
    training: bool,
) -> dict[str, tf.Tensor]:
    """f on data and on samples, as one batch, and the chain's numbers."""
    both: Any = tf.concat([x, ran.x], axis=0)
    for labels in y:
        both = [both, tf.concat([labels, labels], axis=0)]
    f = energy(both, training=training)
    # float32 whatever the policy: differences of f are small beside f.
    f_data, f_samples = tf.split(tf.cast(f, tf.float32), 2)
    f_data, f_samples = tf.reduce_mean(f_data), tf.reduce_mean(f_samples)
    outside = tf.cast(tf.abs(ran.x) > 1.0, tf.float32)
    # The energy's own losses are those of its regularizers and layers.
    own = [tf.cast(loss, tf.float32) for loss in energy.losses]
    return {
        "loss": sum(own, f_samples - f_data),
        "f_data": f_data,
        "f_samples": f_samples,
        "f_difference": f_data - f_samples,
        "f_prime_norm": ran.f_prime_norm,
        "out_of_range": tf.reduce_mean(outside),
    }


def _accuracy(
    energy: keras.Model, x: tf.Tensor, y: Sequence[tf.Tensor]
) -> dict[str, tf.Tensor]:
    """The share of data whose label is argmax_y f(x, y), where it is cheap."""
    at_once = conditional.every_class(energy)
    if at_once is None:
        return {}
    found = tf.argmax(at_once(x, training=False), 1, tf.int32)
    return {"accuracy": tf.reduce_mean(tf.cast(found == y[0], tf.float32))}


def descend(
    model: Generator, tape: tf.GradientTape, loss: tf.Tensor
) -> tf.Tensor:
    """Moves a model's weights down the gradient of a loss.

    In a replica. Gradients are summed over replicas here, not by the optimizer
    (see `compat.expect_summed_gradients`), because the norm of the sum is
    logged.

    Args:
        model: a compiled model.
        tape: that has watched `loss`.
        loss: this replica's term, scaled by `optimizer.scale_loss`.

    Returns:
        The norm of the gradient without the scale. 0 where the optimizer is a
        `LossScaleOptimizer` and skips this update because the gradient is not
        finite: it repeats with a smaller scale.
    """
    optimizer, variables = model.optimizer, model.trainable_variables
    scale = optimizer.scale_loss(tf.ones([]))
    gradient = replicas.total(tape.gradient(loss, variables))
    optimizer.apply(gradient, variables)
    norm = tf.linalg.global_norm(gradient) / scale
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        model.counter.assign_add(1)
        norm = tf.where(tf.math.is_finite(norm), norm, 0.0)
    return norm

"""The inception score: confident per image, diverse across classes."""

from typing import Any

import keras
import numpy.typing as npt
import tensorflow as tf

from srmcmc_tf.scores.streaming import Streaming


@keras.saving.register_keras_serializable("srmcmc_tf")
class InceptionScore(Streaming):
    """exp E KL(p(y|x) || p(y)), mean over splits (Salimans et al., 2016).

    Sample i belongs to split i modulo `splits`, so n need not be known in
    advance. The state is n, the sum of p and the sum of p log p of each split,
    in float64.

    Args:
        classes: number of logits per sample.
        splits: parts whose scores are averaged, 10 in the literature.
        name: of the metric.
        dtype: as for any Keras metric; sums and value are always float64.

    Examples:

    >>> score = InceptionScore(classes=3, splits=1)
    >>> score.update_state(100 * np.eye(3))  # confident and diverse
    >>> round(float(score.result()["is"]), 6)
    3.0
    """

    uses = "logits"

    def __init__(
        self,
        classes: int,
        splits: int = 10,
        name: str = "is",
        dtype: Any = None,
    ) -> None:
        super().__init__(name, dtype)
        self.classes = classes
        self.splits = splits
        self.n = self.add_sum("n", [splits])
        self.p = self.add_sum("p", [splits, classes])
        self.p_log_p = self.add_sum("p_log_p", [splits])

    def update_state(
        self, logits: npt.ArrayLike, index: npt.ArrayLike | None = None
    ) -> None:
        """Adds logits [n, classes] of the samples `index` [n]."""
        x = tf.cast(logits, tf.float64)
        split = self.count_batch(x, index) % self.splits
        log_p = tf.nn.log_softmax(x)
        p = tf.exp(log_p)
        for total, term in (
            (self.n, tf.ones_like(x[:, 0])),
            (self.p, p),
            (self.p_log_p, tf.reduce_sum(p * log_p, axis=1)),
        ):
            total.assign_add(
                tf.math.unsorted_segment_sum(term, split, self.splits)
            )

    def result(self) -> dict[str, tf.Tensor]:
        """The mean of the splits' scores and their standard deviation.

        Returns:
            A dictionary of float64 scalars. As in the literature, the
            deviation is that of the splits, not the standard error of their
            mean.
        """
        n = self.n.value
        q = self.p.value / n[:, None]
        q_log_q = tf.reduce_sum(tf.math.xlogy(q, q), axis=1)
        scores = tf.exp(self.p_log_p.value / n - q_log_q)
        return {
            self.name: tf.reduce_mean(scores),
            f"{self.name}_standard_deviation": tf.math.reduce_std(scores),
        }

    def get_config(self) -> dict[str, Any]:
        own = {"classes": self.classes, "splits": self.splits}
        return {**super().get_config(), **own}

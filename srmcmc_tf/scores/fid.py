"""The Frechet distance between two sets of features: FID."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from srmcmc_tf.scores.streaming import Streaming


class Moments(NamedTuple):
    """Mean and covariance of a set of features.

    Attributes:
        n: number of samples; 0 if unknown.
        mean: float64 [d].
        covariance: float64 [d, d].
    """

    n: int
    mean: np.ndarray
    covariance: np.ndarray


@keras.saving.register_keras_serializable("srmcmc_tf")
class FID(Streaming):
    """The Frechet distance of features to a reference (Heusel et al., 2017).

    |mean difference|^2 + tr(A + B - 2 (A B)^(1/2)) for the covariances A and
    B. It is called FID only for features of the 2015 Inception network. The
    state is n, the sum and the sum of outer products in float64; no features
    are kept. The value is biased: it decreases with n.

    Args:
        features: number of features per sample, d.
        reference: `Moments` of the real samples; not needed for `moments`.
        name: of the metric.
        dtype: as for any Keras metric; sums and value are always float64.

    Examples:

    >>> real = np.eye(3)
    >>> reference = FID(3)
    >>> reference.update_state(real)
    >>> fid = FID(3, reference.moments())
    >>> fid.update_state(real + [0, 0, 1])
    >>> round(float(fid.result()), 6)
    1.0
    """

    def __init__(
        self,
        features: int,
        reference: Sequence[Any] | None = None,
        name: str = "fid",
        dtype: Any = None,
    ) -> None:
        super().__init__(name, dtype)
        self.features = features
        self.reference = Moments(*reference) if reference else None
        self.sum = self.add_sum("sum", [features])
        self.outer = self.add_sum("outer", [features, features])

    def update_state(
        self, features: npt.ArrayLike, index: npt.ArrayLike | None = None
    ) -> None:
        """Adds features [n, d]; `index` has no effect."""
        x = tf.cast(features, tf.float64)
        self.count_batch(x, index)
        self.sum.assign_add(tf.reduce_sum(x, axis=0))
        self.outer.assign_add(tf.matmul(x, x, transpose_a=True))

    def moments(self) -> Moments:
        """The `Moments` of all samples so far; at least two are needed."""
        n = self.count.numpy()
        if n < 2:
            raise ValueError(f"a covariance needs 2 samples, there are {n:.0f}")
        mean = self.sum.numpy() / n
        outer = self.outer.numpy()
        covariance = (outer - n * np.outer(mean, mean)) / (n - 1)
        return Moments(int(n), mean, covariance)

    def result(self) -> tf.Tensor:
        """The distance, a float64 scalar."""
        if self.reference is None:
            raise ValueError("FID needs the reference's moments for a result")
        distance = frechet_distance(self.moments(), self.reference)
        return tf.constant(distance, tf.float64)

    def get_config(self) -> dict[str, Any]:
        reference = list(self.reference) if self.reference else None
        return {
            **super().get_config(),
            "features": self.features,
            "reference": keras.saving.serialize_keras_object(reference),
        }


def frechet_distance(a: Moments, b: Moments) -> float:
    """The squared Frechet distance of two Gaussians, from their moments.

    tr (A B)^(1/2) is the sum of the square roots of the eigenvalues of R' A R
    for any R R' = B, so all matrices stay symmetric. R is B's eigenvectors
    times the square roots of its eigenvalues. Eigenvalues within rounding
    error of zero are dropped (B is singular when there are fewer samples than
    features), because their square roots are not small.

    Args:
        a: `Moments`.
        b: `Moments` of the same number of features.

    Returns:
        The distance.
    """
    root = _root(b.covariance)
    product = root.T @ a.covariance @ root
    overlap = np.sqrt(np.linalg.eigvalsh(product).clip(0)).sum()
    difference = a.mean - b.mean
    traces = np.trace(a.covariance) + np.trace(b.covariance)
    return float(difference @ difference + traces - 2 * overlap)


def standard_error(features: np.ndarray, a: Moments, b: Moments) -> float:
    """The standard error of `frechet_distance(a, b)`, as that of a mean.

    To first order, the distance is a mean over the samples of a: the term of
    x is 2 (mean difference)'y + y'(I - T) y for y = x - mean, where
    T = B^(1/2) (B^(1/2) A B^(1/2))^(-1/2) B^(1/2) is the derivative of the
    overlap. The error of b is not in it, nor is the bias.

    Args:
        features: samples of a, [m, d]: all, or some of them.
        a: `Moments` of all n samples.
        b: `Moments` of the reference.

    Returns:
        The error, of n samples.
    """
    root = _root(b.covariance)
    values, vectors = np.linalg.eigh(root.T @ a.covariance @ root)
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    y = np.asarray(features, np.float64) - a.mean
    along = y @ (root @ vectors[:, kept])
    terms = 2 * y @ (a.mean - b.mean) + np.square(y).sum(1)
    terms -= (np.square(along) / np.sqrt(values[kept])).sum(1)
    return float(terms.std(ddof=1) / a.n**0.5)


def _root(covariance: np.ndarray) -> np.ndarray:
    """R with R R' = covariance, without its null space."""
    values, vectors = np.linalg.eigh(covariance)
    # The tolerance of `numpy.linalg.matrix_rank`.
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    return vectors[:, kept] * np.sqrt(values[kept])

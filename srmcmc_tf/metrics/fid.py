"""The Frechet distance between two sets of features: FID."""

from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from srmcmc_tf.metrics.streaming import Streaming


class Moments(NamedTuple):
    """Of a set of features: float64 mean [d] and covariance [d, d], and n."""

    n: int
    mean: np.ndarray
    covariance: np.ndarray


@keras.saving.register_keras_serializable("srmcmc_tf")
class FID(Streaming):
    """The Frechet distance of features to a reference (Heusel et al., 2017).

    |mean difference|^2 + tr(A + B - 2 (A B)^(1/2)) of the covariances A and
    B. It is called FID for features of the 2015 Inception network and of
    those only. The state is n, the sum and the sum of outer products in
    float64; no features are kept. The value is biased: it falls with n.

    Args:
        features: how many features a sample has, d.
        reference: `Moments` of the real samples; not needed for `moments`.
        name: of the metric.
        dtype: as for any Keras metric; sums and value are float64 anyway.

    Examples:

    >>> real = np.eye(3)
    >>> reference = FID(3)
    >>> reference.update_state(real)
    >>> fid = FID(3, reference.moments())
    >>> fid.update_state(real + [0, 0, 1])
    >>> round(float(fid.result()), 6)
    1.0
    """

    def __init__(self, features, reference=None, name="fid", dtype=None):
        super().__init__(name, dtype)
        self.features = features
        self.reference = reference and Moments(*reference)
        self.sum = self.add_sum("sum", [features])
        self.outer = self.add_sum("outer", [features, features])

    def update_state(self, features, index=None):
        """Adds features [n, d]; `index` does not matter here."""
        x = tf.cast(features, tf.float64)
        self.number(x, index)
        self.sum.assign_add(tf.reduce_sum(x, axis=0))
        self.outer.assign_add(tf.matmul(x, x, transpose_a=True))

    def moments(self):
        """The `Moments` of all samples so far; at least two are needed."""
        n = self.count.numpy()
        if n < 2:
            raise ValueError(f"a covariance needs 2 samples, there are {n:.0f}")
        mean = self.sum.numpy() / n
        outer = self.outer.numpy()
        covariance = (outer - n * np.outer(mean, mean)) / (n - 1)
        return Moments(int(n), mean, covariance)

    def result(self):
        """The distance, a float64 scalar."""
        if self.reference is None:
            raise ValueError("FID needs the reference's moments for a result")
        distance = frechet_distance(self.moments(), self.reference)
        return tf.constant(distance, tf.float64)

    def get_config(self):
        reference = self.reference and list(self.reference)
        return {
            **super().get_config(),
            "features": self.features,
            "reference": keras.saving.serialize_keras_object(reference),
        }

    @classmethod
    def from_config(cls, config):
        reference = keras.saving.deserialize_keras_object(config["reference"])
        return cls(**{**config, "reference": reference})


def frechet_distance(a, b):
    """The squared Frechet distance of two Gaussians, from their moments.

    tr (A B)^(1/2) is the sum of the roots of the eigenvalues of R' A R for
    any R R' = B: all matrices stay symmetric. R is B's eigenvectors times
    the roots of its eigenvalues, without those that are rounding errors (B is
    singular for fewer samples than features): their roots are not small.

    Args:
        a: `Moments`.
        b: `Moments` of as many features.

    Returns:
        A float.
    """
    values, vectors = np.linalg.eigh(b.covariance)
    # The limit of `numpy.linalg.matrix_rank`.
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    root = vectors[:, kept] * np.sqrt(values[kept])
    product = root.T @ a.covariance @ root
    overlap = np.sqrt(np.linalg.eigvalsh(product).clip(0)).sum()
    difference = a.mean - b.mean
    traces = np.trace(a.covariance) + np.trace(b.covariance)
    return float(difference @ difference + traces - 2 * overlap)

"""Where chains start: noise, data, a bank of earlier chains, degraded images.

A `Start` says which. Its functions are pure; what must be remembered, the bank
of persistent chains, is kept by the model.
"""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from srmcmc_tf.config import masks
from srmcmc_tf.sampling import degrade, rng
from srmcmc_tf.sampling.kernels import Project

KINDS = ("noise", "gaussian", "data", "persistent", "degraded", "dataset")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Start:
    """Where the chains of a model start; the default is the paper's.

    Args:
        kind: "noise", uniform in [-1, 1); "gaussian", standard normal; "data",
            the batch of an update (contrastive divergence); "persistent", the
            ends of earlier chains; "degraded", what a task leaves of an image;
            "dataset", images of another domain.
        bank: chains of "persistent".
        reinitialize: probability that a chain of "persistent" starts again
            from noise.
        task: of "degraded": "inpaint", "upscale" or "colorize".
        mask: of "inpaint": "center", "left", or an array [h, w] that is true
            where pixels are known.
        factor: of "upscale": how many times smaller the known image is.
        hold: whether "degraded" chains keep what is known.
        start_noise: of "upscale" and "colorize": factor of the uniform noise
            in what is unknown. The hole of "inpaint" is all noise.

    Examples:

    >>> Start(kind="degraded", task="upscale", factor=2).needs_images
    True
    """

    kind: str = "noise"
    bank: int = 10_000
    reinitialize: float = 0.05
    task: str = "inpaint"
    mask: Any = "center"
    factor: int = 4
    hold: bool = True
    start_noise: float = 0.1

    def __post_init__(self) -> None:
        if not isinstance(self.mask, str):
            object.__setattr__(self, "mask", masks.encode(self.mask))
        for name, value, names in (
            ("start", self.kind, KINDS),
            ("task", self.task, degrade.TASKS),
        ):
            if value not in names:
                raise ValueError(
                    f"{name}={value!r}: must be one of {', '.join(names)}"
                )
        if self.bank < 1:
            raise ValueError(f"bank={self.bank}: must be 1 or more")
        if not 0 <= self.reinitialize <= 1:
            raise ValueError(f"reinitialize={self.reinitialize}: not in [0, 1]")
        if not 0 <= self.start_noise <= 1:
            raise ValueError(f"start_noise={self.start_noise}: not in [0, 1]")

    @property
    def needs_images(self) -> bool:
        """Whether a chain needs an image to start from."""
        return self.kind in ("data", "degraded", "dataset")

    def check(self, shape: tuple[int, ...]) -> None:
        """Raises `ValueError` if images (h, w, c) cannot be so degraded."""
        if self.kind == "degraded":
            if len(shape) != 3:
                raise ValueError("start='degraded': for images, not for points")
            degrade.observe(self.task, shape, **self._settings)

    def noise(self, stream: rng.AnyStream, shape: Any) -> tf.Tensor:
        """Noise as of the start of a chain, float32."""
        stream = stream.fold(rng.START)
        if self.kind == "gaussian":
            return stream.normal(shape)
        return stream.uniform(shape)

    def from_images(self, x: tf.Tensor, stream: rng.AnyStream) -> tf.Tensor:
        """The starts of chains of images [n, ...]."""
        if self.kind != "degraded":
            return x
        noise = self.noise(stream, tf.shape(x))
        noise = tf.ensure_shape(noise, x.shape)
        return degrade.degrade(
            x,
            noise,
            task=self.task,
            start_noise=self.start_noise,
            **self._settings,
        )

    def known(self, x: tf.Tensor) -> tf.Tensor:
        """What is known of images [n, h, w, c], of a "degraded" start."""
        return degrade.observe(self.task, x.shape[1:], **self._settings)(x)

    def project(self, shape: tuple[int, ...]) -> Project | None:
        """The directions in which chains may move; None for all."""
        if self.kind != "degraded" or not self.hold:
            return None
        return degrade.free_directions(self.task, shape, **self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        return {"mask": self.mask, "factor": self.factor}


def bank_rows(seed: Any, update: Any, n: Any, size: int) -> tf.Tensor:
    """Which `n` of `size` chains of a bank an update continues, int64 [n].

    Each once, in an order that is new in every round.
    """
    update, n = tf.cast(update, tf.int64), tf.cast(n, tf.int64)
    blocks = size // n
    place = (update % blocks) * n + tf.range(n)
    names = [tf.cast(seed, tf.int64), rng.BANK, update // blocks]
    return tf.raw_ops.RandomIndexShuffle(
        index=place,
        seed=tf.tile(tf.cast(names, tf.int64)[None], [n, 1]),
        max_index=np.int64(size - 1),
    )


def pick(stream: rng.StreamPerRow, size: int) -> tf.Tensor:
    """One of `size` numbers for each stream, int32 [n]."""
    u = stream.fold(rng.BANK).uniform([stream.seeds.shape[0]])
    number = tf.cast((0.5 + 0.5 * u) * size, tf.int32)
    return tf.minimum(number, size - 1)

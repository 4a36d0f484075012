"""One scale of a model: an energy, and the settings of the chain run on it."""

import functools
from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.sampling import chain, rng


@keras.saving.register_keras_serializable("srmcmc_tf")
class Stage:
    """An energy and the chain that is run on it.

    Args:
        energy: `keras.Model`, images [n, h, w, c] to f [n, 1] or [n]; built.
        K: steps of a chain.
        step_size: factor of the gradient f' in a step.
        noise: factor of the Gaussian noise in a step.

    Examples:

    >>> energy = srmcmc_tf.energies.convnet(8, channels=1, n_f=4)
    >>> srmcmc_tf.Stage(energy, K=5).image_shape
    (8, 8, 1)
    """

    def __init__(
        self,
        energy: keras.Model,
        *,
        K: int = 100,
        step_size: float = 1.0,
        noise: float = 0.01,
    ) -> None:
        self.energy = energy
        self.K, self.step_size, self.noise = K, step_size, noise
        self.compile(jit_compile=False)

    @property
    def image_shape(self) -> tuple[int, ...]:
        """(h, w, c) of its images; (d,) if they are points."""
        return self.energy.input_shape[1:]

    def compile(self, *, jit_compile: bool) -> None:
        """Compiles its chains, by XLA if `jit_compile`."""
        # Layers such as Dropout are active in the weight update alone.
        self.compiled = chain.compiled(
            functools.partial(self.energy, training=False),
            step_size=self.step_size,
            jit_compile=jit_compile,
        )

    def start(self, stream: rng.AnyStream, n: Any) -> tf.Tensor:
        """The starts of `n` chains, drawn from a stream."""
        return stream.fold(rng.START).uniform([n, *self.image_shape])

    def settings(
        self, K: Any = None, noise: Any = None, first: Any = 0
    ) -> tuple[tf.Tensor, ...]:
        """Those of its compiled chain, by default the stage's own.

        Args:
            K: number of steps.
            noise: factor of the noise.
            first: number of the first step.
        """
        K = self.K if K is None else K
        return chain.settings(K, self.noise if noise is None else noise, first)

    def get_config(self) -> dict[str, Any]:
        return {
            "energy": keras.saving.serialize_keras_object(self.energy),
            "K": self.K,
            "step_size": self.step_size,
            "noise": self.noise,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Stage":
        energy = keras.saving.deserialize_keras_object(config["energy"])
        return cls(**{**config, "energy": energy})

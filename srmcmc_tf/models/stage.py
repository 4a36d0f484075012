"""One scale of a model: an energy, and the settings of the chain run on it."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from srmcmc_tf.models import checks, scales
from srmcmc_tf.sampling import chain, kernels, rng
from srmcmc_tf.sampling.kernels import LANGEVIN, Kernel, Project
from srmcmc_tf.sampling.stopping import Stop

SETTINGS = ("K", "step_size", "noise", "noise_end", "start_noise", "sigma")


@keras.saving.register_keras_serializable("srmcmc_tf")
class Stage:
    """An energy and the chain that is run on it, at one size of images.

    A `ShortRunEBM` has a list of them, coarse to fine; the paper's has one.
    The first starts from uniform noise, each following one from the enlarged
    end of the one before plus uniform noise.

    Args:
        energy: any `keras.Model`, images [n, h, w, c] to f [n, 1] or [n]; or
            series [n, t, c], or points [n, d]. It is built if it is not yet.
            A conditional one takes [images, labels]; see
            `energies.conditional`.
        K: steps of a chain.
        step_size: factor of the gradient f' in a step.
        noise: factor of the Gaussian noise in a step.
        noise_end: that of the K-th step; it changes linearly along the chain,
            and steps after the K-th keep it. By default `noise`.
        start_noise: factor of the uniform noise that is added to the enlarged
            end of the stage before; the first stage has no use for it.
        sigma: standard deviation of the Gaussian noise that an update adds to
            the data of this stage: a number, or a function of the update such
            as a schedule. The default is for data that are noisy already.
        kernel: which step the chain makes, or its name.
        stop: when it stops, or the name of a rule.
        image_shape: of one example, where the energy does not say it.
        n_classes: number of classes of a conditional energy, where it does
            not say it; 0 for one without labels.

    Examples:

    >>> stages = [
    ...     srmcmc_tf.Stage(srmcmc_tf.energies.pooled(8, n_f=4), K=5),
    ...     srmcmc_tf.Stage(srmcmc_tf.energies.pooled(16, n_f=4), K=3),
    ... ]
    >>> model = srmcmc_tf.ShortRunEBM(stages)
    >>> model.sample(seeds=[0, 1]).shape, model.K
    (TensorShape([2, 16, 16, 3]), 8)
    """

    def __init__(
        self,
        energy: keras.Model,
        *,
        K: int = 100,
        step_size: float = 1.0,
        noise: float = 0.01,
        noise_end: float | None = None,
        start_noise: float = 0.03,
        sigma: float | Callable[[Any], Any] = 0.0,
        kernel: Kernel | str = LANGEVIN,
        stop: Stop | str = "K",
        image_shape: Sequence[int] | None = None,
        n_classes: int | None = None,
    ) -> None:
        checks.settings(
            K=K,
            step_size=step_size,
            noise=noise,
            noise_end=noise if noise_end is None else noise_end,
            start_noise=start_noise,
            sigma=sigma,
        )
        self.n_classes = checks.n_classes(energy, n_classes)
        self.image_shape = checks.input_shape(
            energy, image_shape, self.n_classes
        )
        self.energy = energy
        self.K, self.step_size = K, step_size
        self.noise, self.noise_end = noise, noise_end
        self.start_noise = start_noise
        self.sigma = sigma
        self.kernel = Kernel(name=kernel) if isinstance(kernel, str) else kernel
        self.stop = Stop(rule=stop) if isinstance(stop, str) else stop
        self.compile(jit_compile=False)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in SETTINGS and hasattr(self, "compiled"):
            raise AttributeError(
                f"{name} of a stage is a constant of compiled graphs: set it "
                "on the model, or make another stage"
            )
        super().__setattr__(name, value)

    def change(self, name: str, value: Any) -> None:
        """Changes a setting; its model must compile its chains again."""
        checks.settings(**{name: value})
        super().__setattr__(name, value)

    def compile(
        self,
        *,
        jit_compile: bool,
        project: Project | None = None,
        level: Any = None,
    ) -> None:
        """Compiles its chains, by XLA if `jit_compile`.

        Args:
            jit_compile: whether XLA compiles them.
            project: the directions in which they may move.
            level: the running mean of f on data, if they stop by it.
        """
        # Layers such as Dropout are active in the weight update alone.
        self._compiled = functools.partial(
            chain.compiled,
            functools.partial(self.energy, training=False),
            jit_compile=jit_compile,
            kernel=self.kernel,
            project=project,
            holds=self.stop.holds(level),
        )
        self.compiled = self._compiled(step_size=self.step_size)

    def given(self, *y: tf.Tensor) -> Any:
        """Its energy; that of the labels y, int32 [n], if it is conditional."""
        return kernels.given(self.energy, *(y or (None,)))

    def stepped(self, step_size: float) -> Callable[..., tf.Tensor]:
        """Its chain with another step size, as a function of rows."""
        compiled = self._compiled(step_size=step_size)
        return lambda rows, *settings: _ends(compiled, rows, settings)

    def statistics(self, ran: chain.Chain) -> dict[str, tf.Tensor]:
        """What is logged of chains that may stop, or reject a step."""
        steps, cost = (
            tf.cast(n, tf.float32) for n in (ran.steps, ran.evaluations)
        )
        found = {}
        if self.kernel.corrected:
            found["accepted"] = ran.accepted
        if self.stop.rule != "K":
            found["steps"] = tf.reduce_mean(steps)
            found["steps_spread"] = tf.math.reduce_std(steps)
        if self.kernel != LANGEVIN or self.stop.rule != "K":
            found["evaluations"] = tf.reduce_mean(cost)
        return found

    def begin(
        self, z: tf.Tensor, before: tf.Tensor | None, reached: Any = True
    ) -> tf.Tensor:
        """Where the chains start.

        Args:
            z: noise, or where the first stage starts.
            before: the ends of the stage before; None for the first stage.
            reached: whether the chains make a step of this stage: if not, no
                noise is added.
        """
        if before is None:
            return z
        factor = tf.where(reached, self.start_noise, 0.0)
        return scales.enlarge(before, self.image_shape) + factor * z

    def run(
        self,
        x: tf.Tensor,
        stream: rng.AnyStream,
        *y: tf.Tensor,
        K: Any = None,
        noise: Any = None,
    ) -> chain.Chain:
        """Runs its chains from `x`; settings are by default its own.

        A conditional energy needs the labels `y`.
        """
        stream = stream.fold(rng.CHAIN)
        return self.compiled.langevin(x, stream, *self.settings(K, noise), *y)

    def ends(self, rows: Any, *settings: Any) -> tf.Tensor:
        """The ends of chains from rows (x, stream), with its `settings`.

        Those of a conditional energy are (x, stream, y).
        """
        return _ends(self.compiled, rows, settings)

    def settings(
        self, K: Any = None, noise: Any = None, first: Any = 0
    ) -> tuple[tf.Tensor, ...]:
        """Those of its compiled chain, by default the stage's own.

        Args:
            K: number of steps.
            noise: factor of the noise of all steps.
            first: number of the first step.
        """
        if noise is None:
            noise = self.noise
            if self.noise_end is not None:
                noise = np.linspace(self.noise, self.noise_end, self.K)
        return chain.settings(self.K if K is None else K, noise, first)

    def data(self, x: tf.Tensor, stream: rng.AnyStream, update: Any) -> Any:
        """The data of an update at this stage: shrunk, and with noise.

        Args:
            x: images of the finest stage.
            stream: names the noise.
            update: the number of the update, of which sigma is a function.
        """
        x = scales.shrink(x, self.image_shape)
        if not callable(self.sigma) and not self.sigma:
            return x
        sigma = self.sigma(update) if callable(self.sigma) else self.sigma
        return x + sigma * stream.fold(rng.NOISE).normal(tf.shape(x))

    def get_config(self) -> dict[str, Any]:
        return {
            "energy": keras.saving.serialize_keras_object(self.energy),
            "K": self.K,
            "step_size": self.step_size,
            "noise": self.noise,
            "noise_end": self.noise_end,
            "start_noise": self.start_noise,
            "sigma": keras.saving.serialize_keras_object(self.sigma),
            "kernel": dataclasses.asdict(self.kernel),
            "stop": dataclasses.asdict(self.stop),
            "image_shape": self.image_shape,
            "n_classes": self.n_classes,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Stage":
        found = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("energy", "sigma")
        }
        # Files of earlier versions have neither.
        found["kernel"] = Kernel(**config.get("kernel", {}))
        found["stop"] = Stop(**config.get("stop", {}))
        return cls(**{**config, **found})


def listed(
    energy: keras.Model | Sequence[Stage], settings: dict[str, Any]
) -> Sequence[Stage]:
    """The stages that the arguments of a model describe.

    Args:
        energy: of a single stage; or the stages themselves.
        settings: of a single stage, by name; None where none was given.
    """
    given = {name: v for name, v in settings.items() if v is not None}
    if isinstance(energy, keras.Model):
        return [Stage(energy, **given)]
    if given:
        raise ValueError(f"{', '.join(given)}: these are settings of a Stage")
    return energy


def _ends(compiled: chain.Compiled, rows: Any, settings: Any) -> tf.Tensor:
    x, stream, *y = rows
    return compiled.langevin(x, stream, *settings, *y).x

"""The short-run MCMC model: an energy network and the chain run on it."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.distribution import replicas
from srmcmc_tf.models.generator import unpack_images
from srmcmc_tf.models.sampler import Sampler
from srmcmc_tf.models.stage import Stage
from srmcmc_tf.sampling import chain, rng


@keras.saving.register_keras_serializable("srmcmc_tf")
class ShortRunEBM(Sampler):
    """Learns an energy whose K-step Langevin chain is the generator.

    Every update starts fresh chains from uniform noise, runs exactly K steps
    and moves the weights along `mean f(data) - mean f(samples)`: Algorithm 1
    of Nijkamp et al., "Learning Non-Convergent Non-Persistent Short-Run MCMC
    Toward Energy-Based Model", NeurIPS 2019.

    The data given to `fit` are images in [-1, 1], to which Gaussian noise was
    added (`srmcmc_tf.data.batches` does both).

    Args:
        energy: `keras.Model`, images [n, h, w, c] to f [n, 1] or [n]; built.
            Or a list of `Stage`, which have the next three settings.
        K: steps of a chain, 100 by default.
        step_size: factor of the gradient f' in a step, 1 by default.
        noise: factor of the Gaussian noise in a step, 0.01 by default.
        seed: integer, the random seed of all noise in training.
        **kwargs: of `keras.Model`, such as `name`.

    Examples:

    >>> energy = srmcmc_tf.energies.convnet(8, channels=1, n_f=4)
    >>> model = ShortRunEBM(energy, K=5)
    >>> model.sample(seeds=[0, 1, 2]).shape
    TensorShape([3, 8, 8, 1])
    """

    def __init__(
        self,
        energy: keras.Model | Sequence[Stage],
        *,
        K: int | None = None,
        step_size: float | None = None,
        noise: float | None = None,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        settings = {"K": K, "step_size": step_size, "noise": noise}
        super().__init__(_stages(energy, settings), seed=seed, **kwargs)
        self.built = True

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """f(x), the negative energy: [n, h, w, c] to [n, 1]."""
        return self.energy(x)

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer | None = None,
        *,
        jit_compile: bool | str = "auto",
        **kwargs: Any,
    ) -> None:
        """Sets the optimizer and whether XLA compiles the chain.

        Args:
            optimizer: a Keras optimizer; by default the paper's Adam.
            jit_compile: whether XLA compiles the chain (never the rest of the
                update); "auto" is True if there is a GPU: on a CPU, XLA's
                convolution gradients are three times slower.
            **kwargs: as in `keras.Model.compile`; the loss is the model's own.
        """
        for name in ("loss", "loss_weights", "metrics", "weighted_metrics"):
            if kwargs.get(name) is not None:
                raise ValueError(f"ShortRunEBM has its own loss: no `{name}`")
        self.compile_chains(jit_compile)
        super().compile(optimizer or self.adam(), jit_compile=False, **kwargs)
        self.optimizer.build(self.trainable_variables)
        if self.distribute_strategy.num_replicas_in_sync > 1:
            compat.expect_summed_gradients(self.optimizer)

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        """One update of Algorithm 1; returns its quantities by name."""
        x = unpack_images(data)
        pairs = self._pairs(x, rng.TRAIN, self.optimizer.iterations)
        with tf.GradientTape() as tape:
            logs = self._compare(pairs, training=True)
            # The gradient is summed over replicas; the paper takes the mean.
            n = tf.distribute.get_strategy().num_replicas_in_sync
            loss = self.optimizer.scale_loss(logs["loss"] / n)
        variables = self.trainable_variables
        gradient = replicas.total(tape.gradient(loss, variables))
        self.optimizer.apply(gradient, variables)
        logs["gradient_norm"] = tf.linalg.global_norm(gradient)
        return replicas.logs(logs)

    def test_step(self, data: Any) -> dict[str, tf.Tensor]:
        """The quantities of an update on other data, without the update."""
        x = unpack_images(data)
        logs = self._compare(self._pairs(x, rng.TEST, 0), training=False)
        return replicas.logs(logs)

    def checkpoint_items(self) -> dict[str, Any]:
        coarser = {
            f"stage_{i}": energy for i, energy in enumerate(self.coarser)
        }
        return {"energy": self.energy, **coarser, **super().checkpoint_items()}

    def get_config(self) -> dict[str, Any]:
        stages = [keras.saving.serialize_keras_object(s) for s in self.stages]
        return {**super().get_config(), "energy": stages, "seed": self.seed}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "ShortRunEBM":
        # A single energy is what earlier versions wrote, with K beside it.
        energy = keras.saving.deserialize_keras_object(config["energy"])
        return cls(**{**config, "energy": energy})

    def get_compile_config(self) -> dict[str, Any]:
        return {**super().get_compile_config(), "jit_compile": self._jit_chain}

    def _pairs(
        self, x: tf.Tensor, *draw: Any
    ) -> list[tuple[tf.Tensor, chain.Chain]]:
        """The data of each stage, and its chains with the noise of `draw`."""
        whole = rng.stream(self.seed).fold(*draw, 0)
        n, update = tf.shape(x)[0], self.optimizer.iterations
        stream = replicas.own_rows(whole, n)
        data = [s.data(x, own, update) for s, own in self.with_streams(stream)]
        return list(zip(data, self.fresh_chains(stream, n), strict=True))

    def _compare(
        self, pairs: list[tuple[tf.Tensor, chain.Chain]], *, training: bool
    ) -> dict[str, tf.Tensor]:
        """The quantities of all stages: sums, but means of the last two."""
        each = [
            _compare(stage.energy, x, ran, training=training)
            for stage, (x, ran) in zip(self.stages, pairs, strict=True)
        ]
        if len(each) == 1:
            return each[0]
        logs = {
            name: tf.add_n([logs[name] for logs in each]) for name in each[0]
        }
        for name in ("f_prime_norm", "out_of_range"):
            logs[name] /= len(each)
        return logs


def _compare(
    energy: keras.Model, x: tf.Tensor, ran: chain.Chain, *, training: bool
) -> dict[str, tf.Tensor]:
    """f on data and on samples, as one batch, and the chain's numbers."""
    f = energy(tf.concat([x, ran.x], axis=0), training=training)
    f_data, f_samples = tf.split(f, 2)
    f_data, f_samples = tf.reduce_mean(f_data), tf.reduce_mean(f_samples)
    outside = tf.cast(tf.abs(ran.x) > 1.0, tf.float32)
    return {
        # The energy's own losses are those of its regularizers and layers.
        "loss": sum(energy.losses, f_samples - f_data),
        "f_data": f_data,
        "f_samples": f_samples,
        "f_difference": f_data - f_samples,
        "f_prime_norm": ran.f_prime_norm,
        "out_of_range": tf.reduce_mean(outside),
    }


def _stages(
    energy: keras.Model | Sequence[Stage], settings: dict[str, Any]
) -> Sequence[Stage]:
    """The stages that the arguments of a model describe."""
    given = {name: v for name, v in settings.items() if v is not None}
    if isinstance(energy, keras.Model):
        return [Stage(energy, **given)]
    if given:
        raise ValueError(f"{', '.join(given)}: these are settings of a Stage")
    return energy

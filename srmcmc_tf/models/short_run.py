"""The short-run MCMC model: an energy network and the chain run on it."""

import warnings
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.compat import tensorflow as compat
from srmcmc_tf.distribution import replicas
from srmcmc_tf.models import (
    checks,
    drawing,
    inputs,
    layer_state,
    saved_model,
    update,
)
from srmcmc_tf.models import labels as label_checks
from srmcmc_tf.models.sampler import Sampler
from srmcmc_tf.models.stage import Stage, listed
from srmcmc_tf.models.stored import StoredSampler
from srmcmc_tf.sampling import chain, rng
from srmcmc_tf.sampling.kernels import Kernel
from srmcmc_tf.sampling.starts import Start
from srmcmc_tf.sampling.stopping import Stop


def _settable(read: Any, name: str) -> Any:
    """A property of a model, as one that changes its single stage."""
    return read.setter(lambda model, value: model._change(name, value))


@keras.saving.register_keras_serializable("srmcmc_tf")
class ShortRunEBM(StoredSampler):
    """Learns an energy whose K-step Langevin chain is the generator.

    Every update starts fresh chains from uniform noise, runs exactly K steps
    and moves the weights along `mean f(data) - mean f(samples)`: Algorithm 1
    of Nijkamp et al., "Learning Non-Convergent Non-Persistent Short-Run MCMC
    Toward Energy-Based Model", NeurIPS 2019.

    The data given to `fit` are images in [-1, 1]. Gaussian noise is added to
    them either by `srmcmc_tf.data.batches` or, if `sigma` is given, by the
    model; never by both.

    Args:
        energy: any `keras.Model`, images [n, h, w, c] to f [n, 1] or [n]; or
            series [n, t, c], or points [n, d]. Or a list of `Stage`, which
            have the settings of the chain. A conditional energy takes
            [images, labels] (see `energies.conditional`): then `fit` needs
            labels, and each chain has one.
        K: steps of a chain, 100 by default.
        step_size: factor of the gradient f' in a step, 1 by default.
        noise: factor of the Gaussian noise in a step, 0.01 by default.
        sigma: standard deviation of the noise that the model adds to the data
            of an update, 0 by default.
        kernel: which step they make, a `Kernel` or its name.
        stop: when they stop, a `Stop` or its rule.
        start: where they start, a `Start` or its kind.
        image_shape: of one example; needed if the energy does not say it, as
            a subclass of `keras.Model` or a network without an `Input`.
        n_classes: of a conditional energy that does not say it.
        seed: integer, the random seed of all noise in training.
        **kwargs: of `keras.Model`, such as `name`.

    Examples:

    >>> energy = srmcmc_tf.energies.convnet(8, channels=1, n_f=4)
    >>> model = ShortRunEBM(energy, K=5)
    >>> model.sample(seeds=[0, 1, 2]).shape
    TensorShape([3, 8, 8, 1])
    """

    quantities = update.QUANTITIES

    def __init__(
        self,
        energy: keras.Model | Sequence[Stage],
        *,
        K: int | None = None,
        step_size: float | None = None,
        noise: float | None = None,
        sigma: float | None = None,
        kernel: Kernel | str | None = None,
        stop: Stop | str | None = None,
        start: Start | str = "noise",
        image_shape: Sequence[int] | None = None,
        n_classes: int | None = None,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        settings = {
            "K": K,
            "step_size": step_size,
            "noise": noise,
            "sigma": sigma,
            "kernel": kernel,
            "stop": stop,
            "image_shape": image_shape,
            "n_classes": n_classes,
        }
        policy = keras.dtype_policies.get(kwargs.get("dtype") or "float32")
        if policy.name != "float32":
            raise ValueError(
                f"dtype={policy.name}: the chain is float32; give the policy "
                "to the layers of the energy"
            )
        kwargs["dtype"] = policy  # whatever the global policy
        stages = listed(energy, settings)
        super().__init__(stages, start=start, seed=seed, **kwargs)
        self.built = True

    # Set after the first use, a setting takes effect from then on.
    K = _settable(Sampler.K, "K")
    step_size = _settable(Sampler.step_size, "step_size")
    noise = _settable(Sampler.noise, "noise")
    sigma = _settable(
        property(
            lambda self: self.stages[-1].sigma,
            doc="That of the noise that an update adds to the data.",
        ),
        "sigma",
    )

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer | None = None,
        *,
        jit_compile: bool | str = "auto",
        auto_scale_loss: bool = True,
        **kwargs: Any,
    ) -> None:
        """Sets the optimizer and whether XLA compiles the chain.

        Args:
            optimizer: a Keras optimizer; by default the paper's Adam.
            jit_compile: whether XLA compiles the chain (never the rest of the
                update); "auto" is True if there is a GPU: on a CPU, XLA's
                convolution gradients are three times slower.
            auto_scale_loss: whether an energy with float16 layers gets a
                `LossScaleOptimizer`, as in `keras.Model.compile`.
            **kwargs: as in `keras.Model.compile`; the loss is the model's own.
        """
        for name in ("loss", "loss_weights", "metrics", "weighted_metrics"):
            if kwargs.get(name) is not None:
                raise ValueError(f"ShortRunEBM has its own loss: no `{name}`")
        self.compile_chains(jit_compile)
        optimizer = keras.optimizers.get(optimizer or self.adam())
        scaled = keras.optimizers.LossScaleOptimizer
        energies = [stage.energy for stage in self.stages]
        if auto_scale_loss and any(map(checks.uses_float16, energies)):
            if not isinstance(optimizer, scaled):
                optimizer = scaled(optimizer)
        super().compile(optimizer, jit_compile=False, **kwargs)
        self.optimizer.build(self.trainable_variables)
        if self.distribute_strategy.num_replicas_in_sync > 1:
            compat.expect_summed_gradients(self.optimizer)

    def fit(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """As of `keras.Model`; a conditional model needs labels, too."""
        added = inputs.added_sigma(x)
        own = [stage.sigma for stage in self.stages if stage.sigma]
        if own and (added is not None and added != 0):
            warnings.warn(
                f"noise is added twice: sigma={own[-1]} by the model, "
                f"sigma={added} by data.batches; give one of them 0",
                stacklevel=2,
            )
        return super().fit(x, *args, **kwargs)

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        """One update of Algorithm 1; returns its quantities by name."""
        batch, rows = self._batch(data)
        stages = self._stages(batch, rows, rng.TRAIN, self.counter)
        layers = rng.stream(self.seed).fold(rng.LAYERS, self.counter)
        for i, (energy, _, _) in enumerate(stages):
            layer_state.set_seeds(energy, layers.fold(i))
        with tf.GradientTape() as tape:
            logs = update.compare(stages, batch[1:], training=True)
            # The gradient is summed over replicas; the paper takes the mean.
            loss = self.optimizer.scale_loss(rows.share(logs["loss"]))
        self.starting.store(stages[0][2].x, rows, self.seed, self.counter)
        self.starting.observe(logs["f_data"], rows)
        logs |= self.stages[-1].statistics(stages[-1][2])
        logs["gradient_norm"] = update.descend(self, tape, loss)
        for energy, _, _ in stages:
            layer_state.synchronize(energy)
        return self.trackers.update(logs, rows)

    def test_step(self, data: Any) -> dict[str, tf.Tensor]:
        """The quantities of an update on other data, without the update."""
        batch, rows = self._batch(data)
        stages = self._stages(batch, rows, rng.TEST, 0)
        logs = update.compare(stages, batch[1:], training=False)
        logs |= self.stages[-1].statistics(stages[-1][2])
        return self.trackers.update(logs, rows)

    def sample(
        self,
        seeds: Sequence[int] | None = None,
        *,
        start: Any = None,
        K: int | None = None,
        step_size: float | None = None,
        noise: float | None = None,
        images: Any = None,
        labels: Any = None,
        verbose: int | str = "auto",
    ) -> tf.Tensor:
        """Runs a chain per seed to float32 [n, h, w, c], not clipped.

        Args:
            seeds: integers [n]; each names a start and all noise of its chain.
                By default 0 to n - 1 for the n images of `start`.
            start: where the chains start instead, such as images to edit,
                [n, h, w, c]; of several stages, as the method `start` returns.
            K: steps of all stages together, by default those of the training.
                Fewer end in an earlier stage, which is then enlarged; more are
                made by the last stage.
            step_size: factor of f', by default that of the training.
            noise: factor of the noise, by default that of the training.
            images: one for each seed, for a model that `needs_images`.
            labels: the class of each sample of a conditional model, or one
                for all; by default seed mod `n_classes`.
            verbose: 0 for no progress bar, 1 for one, "auto" for one in calls
                of more than 2 seconds.

        Returns:
            The samples, drawn 256 at once; a sample does not depend on the
            seeds beside it.
        """
        K = self.K if K is None else K
        if images is not None and seeds is not None:
            start = self.start(seeds, images=images)
        options: Any = dict(step_size=step_size, noise=noise, verbose=verbose)
        return drawing.sample(self, seeds, start, labels, K=K, **options)

    def export(
        self, filepath: Any, format: str = "tf_saved_model", **kwargs: Any
    ) -> None:
        """Writes a SavedModel with the signatures `serve` and `sample`.

        `serve`, the default, is f of images; `sample` makes an image per seed.
        `bin/export` writes more signatures, with limits and a model card.

        Args:
            filepath: a directory.
            format: "tf_saved_model"; the energy alone has the other formats
                of Keras: `model.energy.export`.
            **kwargs: `verbose`, as of `keras.Model.export`.
        """
        if format != "tf_saved_model":
            raise ValueError(
                f"format={format!r}: a chain is exported as tf_saved_model; "
                "use model.energy.export for the energy alone"
            )
        saved_model.write(self, filepath, **kwargs)

    def _change(self, name: str, value: Any) -> None:
        """Changes a setting of the single stage, and compiles again."""
        if len(self.stages) > 1:
            raise ValueError(
                f"{name}: the model has {len(self.stages)} stages; make "
                "another one, with new stages of the same energies"
            )
        self.stages[-1].change(name, value)
        self.compile_chains(self._jit_chain)
        self.set_seed(self.seed)  # the settings are part of the same graphs

    def _batch(self, data: Any) -> tuple[list[tf.Tensor], replicas.Rows]:
        """A replica's images of a batch, and which rows they are.

        A conditional model has their labels, too.
        """
        batch = [inputs.batch(data, self.image_shape)]
        if self.n_classes:
            batch.append(label_checks.of_batch(data, self.n_classes))
        return replicas.own_rows(batch)

    def _stages(
        self, batch: list[tf.Tensor], rows: replicas.Rows, *draw: Any
    ) -> list[tuple[keras.Model, tf.Tensor, chain.Chain]]:
        """Each stage's energy, data, and chains with the noise of `draw`."""
        stream = rows.stream(rng.stream(self.seed).fold(*draw, 0))
        x, *y = batch
        data = [
            stage.data(x, own, self.counter)
            for stage, own in self.with_streams(stream)
        ]
        ran = self.fresh_chains(data[-1], y, rows, stream, draw[-1])
        energies = [stage.energy for stage in self.stages]
        return list(zip(energies, data, ran, strict=True))

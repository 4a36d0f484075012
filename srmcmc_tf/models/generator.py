"""The base class of all models: seeds to images, trained by updates."""

import contextlib
from collections.abc import Container, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.models import ema, fit_callbacks, labels

# Registers the schedules: a saved optimizer may have one.
from srmcmc_tf.models import schedules as schedules
from srmcmc_tf.models.trackers import Trackers
from srmcmc_tf.sampling.inversion import Reconstruction

Rate = Any  # a number, or a Keras schedule


class Generator(keras.Model):
    """A model that draws images, each named by an integer seed.

    A subclass defines its networks, `train_step` and the methods that raise
    `NotImplementedError` here, names its `quantities`, and adds its networks
    to `checkpoint_items`.

    Args:
        seed: integer, the random seed of all noise in training.
        **kwargs: of `keras.Model`, such as `name`.

    Attributes:
        average: an `ema.Average` of the weights, or None; see `keep_average`.
        warning: the callback that warns of divergence.
        trackers: the means of the logged quantities; callbacks receive the
            values of each single update.
    """

    quantities: tuple[str, ...] = ()

    def __init__(self, *, seed: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed
        self.average: ema.Average | None = None
        self.warning = fit_callbacks.WarnOfDivergence()
        self.trackers = Trackers(self.quantities)

    @staticmethod
    def adam(learning_rate: Rate = 1e-4) -> keras.optimizers.Adam:
        """The default optimizer, with PyTorch's epsilon, as in the paper."""
        return keras.optimizers.Adam(learning_rate, 0.9, 0.999, epsilon=1e-8)

    @property
    def image_shape(self) -> tuple[int, ...]:
        """(h, w, c) of a sample; (d,) if samples are points."""
        raise NotImplementedError

    @property
    def n_classes(self) -> int:
        """Number of classes of a conditional model; 0 if it is none."""
        return 0

    def start(self, seeds: Sequence[int]) -> tf.Tensor:
        """The starts or latents z of `seeds`, one per seed."""
        raise NotImplementedError

    def sample(self, seeds: Sequence[int]) -> tf.Tensor:
        """One sample per seed, float32 [n, h, w, c]."""
        raise NotImplementedError

    def interpolate(
        self, z1: tf.Tensor, z2: tf.Tensor, rho: Sequence[float]
    ) -> tf.Tensor:
        """Samples [n, r, h, w, c] of rho z1 + sqrt(1 - rho^2) z2."""
        raise NotImplementedError

    def reconstruct(
        self,
        x: tf.Tensor,
        *,
        seeds: Sequence[int] | None = None,
        keep: Container[int] = (),
    ) -> Reconstruction:
        """Infers z for images [n, h, w, c] in [-1, 1]."""
        raise NotImplementedError

    def untrained(self) -> "Generator":
        """The same model with new weights, as a baseline; not compiled."""
        with self.distribute_strategy.scope():
            return type(self).from_config(self.get_config())

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """As of `keras.Model`; see `fit_callbacks` for the callbacks.

        The data are checked by `labels.pair`.
        """
        other = kwargs.get("validation_data")
        if other is not None:
            kwargs["validation_data"] = self._validation(other)
        x, y = labels.pair(x, y, self.image_shape, self.n_classes)
        callbacks = fit_callbacks.arrange(self, callbacks)
        given = x, y, batch_size, epochs, verbose, callbacks
        return super().fit(*given, *args, **kwargs)

    def evaluate(
        self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        """As of `keras.Model`; the data are checked by `labels.pair`."""
        if not kwargs.get("_use_cached_eval_dataset"):  # checked by `fit`
            x, y = labels.pair(x, y, self.image_shape, self.n_classes)
        return super().evaluate(x, y, *args, **kwargs)

    def _validation(self, data: Any) -> Any:
        """The `validation_data` of `fit`, checked."""
        x, y = labels.pair(data, None, self.image_shape, self.n_classes)
        return x if y is None else (x, y)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The trackers, which Keras resets before each epoch."""
        return list(self.trackers.means)

    def get_metrics_result(self) -> dict[str, tf.Tensor]:
        """What `fit` and `evaluate` report: means over the epoch's rows."""
        return self.trackers.result()

    @property
    def counter(self) -> Any:
        """The variable that counts the calls of `train_step`.

        `optimizer.iterations` does not change in each of them if the optimizer
        accumulates gradients, or skips an update whose scaled gradient is not
        finite. Keras stores the number of calls as the first variable; a
        `LossScaleOptimizer` has one, too, but leaves it at 0.
        """
        return self.optimizer.variables[0]

    @property
    def update(self) -> int:
        """The number of updates made so far: calls of `train_step`."""
        return int(self.counter.numpy())

    def set_seed(self, seed: int) -> None:
        """Changes the random seed of the updates from now on."""
        self.seed = seed
        # The seed is a constant of their graphs.
        self.train_function = self.test_function = None

    def keep_average(self, decay: float) -> None:
        """Starts a moving average of the weights, at their present values.

        `ema.UpdateAverage`, a callback, updates it while training.

        Args:
            decay: weight of the past in an update, in [0, 1).
        """
        self.average = ema.Average(self, decay)

    @contextlib.contextmanager
    def averaged(self) -> Iterator[None]:
        """Within it the model has its averaged weights, if it keeps any."""
        if self.average is None:
            yield
            return
        own = [w.numpy() for w in self.weights]
        self.use_average()
        try:
            yield
        finally:
            for weight, value in zip(self.weights, own, strict=True):
                weight.assign(value)

    def use_average(self) -> None:
        """Replaces the weights by their average, if the model keeps one."""
        if self.average is not None:
            self.average.put_into(self)

    def checkpoint_items(self) -> dict[str, Any]:
        """What an update changes, by the names it has in a checkpoint."""
        items = {"optimizer": self.optimizer}
        if self.average is not None:
            items["average"] = self.average
        return items

    def get_compile_config(self) -> dict[str, Any]:
        optimizer = keras.saving.serialize_keras_object(self.optimizer)
        return {"optimizer": optimizer}

    def compile_from_config(self, config: dict[str, Any]) -> None:
        self.compile(**keras.saving.deserialize_keras_object(config))


def between(z1: tf.Tensor, z2: tf.Tensor, rho: Sequence[float]) -> tf.Tensor:
    """Points rho z1 + sqrt(1 - rho^2) z2 between starts or latents.

    They keep the variance of z, not its range: a sum of two uniforms is not
    uniform.

    Args:
        z1: [n, ...].
        z2: of the same shape.
        rho: weights of `z1` in [0, 1], shape [r].

    Returns:
        float32 [n, r, ...].
    """
    ones = [1] * (len(z1.shape) - 1)
    weight = tf.reshape(tf.cast(rho, tf.float32), [1, -1, *ones])
    return weight * z1[:, None] + tf.sqrt(1.0 - weight**2) * z2[:, None]

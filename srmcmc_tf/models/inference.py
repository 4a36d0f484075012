"""What a short-run model infers of images: f, their class, and their z."""

import math
from collections.abc import Container, Sequence
from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.models import conditional, inputs, inverse, scales
from srmcmc_tf.models import labels as label_checks
from srmcmc_tf.models.generator import between
from srmcmc_tf.models.sampler import Sampler
from srmcmc_tf.sampling import inversion


class Inference(Sampler):
    """A `Sampler` that also goes from images to f, to a class, and to z."""

    def call(self, x: Any, training: bool = False) -> tf.Tensor:
        """f(x), the negative energy, float32: [n, h, w, c] to [n, 1].

        Of a conditional model f(x, y), of a list [x, y] of images and labels.
        """
        y = None
        if self.n_classes:
            x, y = label_checks.split(x)
        x = inputs.images(x, self.image_shape)
        if self.n_classes:
            x = [x, label_checks.checked(y, self.n_classes, tf.shape(x)[0])]
        return keras.ops.cast(self.energy(x, training=training), "float32")

    def predict(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """f of arrays or datasets, as of `keras.Model`; see `call`."""
        pair = label_checks.pair(x, None, self.image_shape, self.n_classes)
        if self.n_classes and isinstance(pair[0], tf.data.Dataset):
            x = pair[0].map(lambda *data: (label_checks.split(data),))
        else:
            x = pair if self.n_classes else pair[0]
        return super().predict(x, *args, **kwargs)

    def f_by_class(self, x: Any) -> tf.Tensor:
        """f(x, y) for every class y, float32: [n, h, w, c] to [n, n_classes].

        Up to a constant of each class, log p(x | y); `n_classes` evaluations
        of f, or one with the head of `energies.conditional`.
        """
        if not self.n_classes:
            raise ValueError("the model is not conditional: it has no classes")
        x = inputs.images(x, self.image_shape)
        return conditional.f_by_class(self.energy, x, self.n_classes)

    def classify(self, x: Any) -> tf.Tensor:
        """The implied classifier, argmax_y f(x, y): images to int32 [n].

        It takes the constants of `f_by_class` as equal: training p(x | y)
        does not determine them.
        """
        return tf.argmax(self.f_by_class(x), axis=1, output_type=tf.int32)

    def interpolate(
        self,
        z1: tf.Tensor,
        z2: tf.Tensor,
        rho: Sequence[float],
        *,
        K: int | None = None,
        labels: Any = None,
    ) -> tf.Tensor:
        """The deterministic ends [n, r, h, w, c] of starts between two.

        Args:
            z1, z2: starts, as of `start`.
            rho: weights of `z1` in [0, 1], shape [r]; see `between`.
            K: steps, by default those of the training.
            labels: of a conditional model, one for each pair, or one for all;
                by default 0, 1, ... mod `n_classes`.
        """
        self.starting.check_inverts()
        shape = self.image_shape
        if len(self.stages) > 1:
            shape = (
                sum(math.prod(stage.image_shape) for stage in self.stages),
            )
        z1, z2 = (inputs.images(z, shape, "starts") for z in (z1, z2))
        z = between(z1, z2, rho)
        y = self.labels_of(tf.range(tf.shape(z)[0]), labels)
        rows = [tf.reshape(z, [-1, *z.shape[2:]])]
        rows += [tf.repeat(own, tf.shape(z)[1]) for own in y]
        K = tf.cast(self.K if K is None else K, tf.int32)
        ends = self._shared_ascent(rows, K)
        shape = tf.concat([tf.shape(z)[:2], self.image_shape], axis=0)
        return tf.reshape(ends, shape)

    def reconstruct(
        self,
        x: tf.Tensor,
        *,
        seeds: Sequence[int] | None = None,
        iterations: int = 200,
        rule: str = "descent",
        step: float | None = None,
        observe: inversion.Observe = tf.identity,
        K: int | None = None,
        keep: Container[int] = (),
        labels: Any = None,
    ) -> inversion.Reconstruction:
        """Infers starts z whose deterministic chains end at given images.

        Descent on ||observe(x) - observe(M(z))||^2 over z, through all steps.

        Args:
            x: images in [-1, 1], [n, h, w, c].
            seeds: integers [n] that name the first z; by default 0 to n - 1.
            iterations: steps of the descent.
            rule: "descent", the paper's, or "adam".
            step: factor of the gradient; by default one that was measured.
            observe: images to what is known of them, such as a part.
            K: steps of the chain, by default those of the training.
            keep: iterations at which M(z) is kept as a frame.
            labels: of a conditional model, one for each image, or one for all;
                by default the classes that `classify` finds in what is known.
        """
        self.starting.check_inverts()
        x = inputs.images(x, self.image_shape)
        inputs.check_range(x)
        z = self.start(range(len(x)) if seeds is None else seeds)
        if self.n_classes and labels is None:
            labels = self.classify(observe(x))
        y = self.labels_of(range(len(x)), labels)
        return inversion.infer(
            lambda z, *y: self.with_pullback(z, self.K if K is None else K, *y),
            x,
            z,
            metric=self.metric(),
            best=len(self.stages) > 1,
            observe=observe,
            iterations=iterations,
            rule=rule,
            step=step,
            keep=keep,
            share=self._share,
            y=y,
        )

    def with_pullback(
        self, z: tf.Tensor, K: Any, *y: tf.Tensor
    ) -> tuple[tf.Tensor, inversion.Pullback]:
        """The ends of chains without noise, and how a gradient comes back.

        Args:
            z: starts.
            K: steps.
            *y: labels of the starts, if the model is conditional.
        """
        return inverse.with_pullback(self.stages, z, K, *y)

    def metric(self) -> tf.Tensor:
        """Factors of a gradient by z; see `scales.metric`."""
        return scales.metric(
            [stage.image_shape for stage in self.stages],
            [stage.start_noise for stage in self.stages],
        )

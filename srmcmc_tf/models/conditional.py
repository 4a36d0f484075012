"""A conditional head: f(x) becomes f(x, y), one energy for each class y."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from srmcmc_tf.compat import tensorflow as compat

_LINEAR = {
    layers.Dense: "units",
    layers.Conv1D: "filters",
    layers.Conv2D: "filters",
    layers.Conv3D: "filters",
}


@keras.saving.register_keras_serializable("srmcmc_tf")
class ChooseClass(layers.Layer):
    """The end of a conditional energy: f(x, y) out of f(x, 0), f(x, 1), ...

    Args:
        n_classes: number of classes.
        **kwargs: of `keras.layers.Layer`.
    """

    linear_given_labels = True  # see `sampling.piecewise`

    def __init__(self, n_classes: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n_classes = n_classes

    def call(self, inputs: Any) -> Any:
        f, y = inputs
        # Not a gather, whose gradient would be a scatter.
        chosen = keras.ops.one_hot(y, self.n_classes, dtype=f.dtype)
        return keras.ops.sum(f * chosen, axis=1, keepdims=True)

    def compute_output_shape(self, shapes: Any) -> tuple[int | None, int]:
        return shapes[0][0], 1

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "n_classes": self.n_classes}


def conditional(energy: keras.Model, n_classes: int) -> keras.Model:
    """Gives any energy one output per class: f(x) becomes f(x, y).

    Its last layer with weights, a Dense layer or a convolution with one
    output, is replaced by one with an output per class. All of them start with
    the weights of the layer they replace, so that f(x, y) is f(x) for every y
    until it is trained. The other layers are those of `energy` itself.

    Args:
        energy: a Sequential or functional model, images to f [n, 1] or [n].
            Any other network can be conditional by itself: a model with two
            inputs, images and labels.
        n_classes: number of classes, from 2 up.

    Returns:
        A `keras.Model`, [images, labels] to f [n, 1]; labels are integers [n]
        from 0 to `n_classes` - 1.

    Examples:

    >>> f = conditional(srmcmc_tf.energies.convnet(8, 1, n_f=4), 10)
    >>> model = srmcmc_tf.ShortRunEBM(f, K=5)
    >>> model.sample(seeds=[0, 1, 2], labels=[7, 7, 9]).shape
    TensorShape([3, 8, 8, 1])
    """
    if n_classes < 2:
        raise ValueError(f"n_classes={n_classes}: must be 2 or more")
    last, before, after = _ending(energy)
    config = last.get_config()
    size = _LINEAR[type(last)]
    wide = type(last).from_config({**config, size: n_classes})
    f = wide(before)
    wide.set_weights([np.repeat(w, n_classes, -1) for w in last.get_weights()])
    for layer in after:
        f = type(layer).from_config(layer.get_config())(f)
    if f.shape != (None, n_classes):
        raise _refusal(f"with {n_classes} outputs it would return {f.shape}")
    y = keras.Input((), dtype="int32", name="y")
    chosen = ChooseClass(n_classes, dtype="float32", name="f_of_class")([f, y])
    return keras.Model([energy.inputs[0], y], chosen, name=energy.name)


def n_classes_of(energy: keras.Model) -> int:
    """The number of classes of a conditional head; 0 if there is none."""
    last = _head(energy)
    return last.n_classes if last else 0


def every_class(energy: keras.Model) -> keras.Model | None:
    """Images to f of all classes [n, n_classes] at once, if there is a head."""
    last = _head(energy)
    return last and keras.Model(energy.inputs[0], last.input[0])


def f_by_class(energy: keras.Model, x: tf.Tensor, n_classes: int) -> tf.Tensor:
    """f(x, y) for every y, float32 [n, n_classes].

    Args:
        energy: a model of [images, labels], with our head or any other.
        x: images [n, ...].
        n_classes: number of classes.
    """
    at_once = every_class(energy)
    if at_once is not None:
        return tf.cast(at_once(x, training=False), tf.float32)
    each = []
    for label in range(n_classes):
        y = tf.fill(tf.shape(x)[:1], label)
        f = energy([x, y], training=False)
        each.append(tf.reshape(tf.cast(f, tf.float32), [-1]))
    return tf.stack(each, axis=1)


def _head(energy: keras.Model) -> ChooseClass | None:
    last = (getattr(energy, "layers", None) or [None])[-1]
    return last if isinstance(last, ChooseClass) else None


def _ending(energy: keras.Model) -> tuple[Any, Any, list[Any]]:
    """The last layer with weights, its input, and the layers after it."""
    outputs = getattr(energy, "outputs", None)
    if not outputs or len(outputs) > 1 or len(energy.inputs) > 1:
        raise _refusal(
            "it is no built Sequential or functional model with one input and "
            "one output"
        )
    layer, inputs = compat.layer_of(outputs[0])
    after: list[Any] = []
    while not getattr(layer, "weights", None) and len(inputs) == 1:
        after.insert(0, layer)
        layer, inputs = compat.layer_of(inputs[0])
    size = _LINEAR.get(type(layer))
    if size is None or getattr(layer, size) != 1:
        raise _refusal(
            f"its last layer with weights, {layer.name}, is no Dense layer or "
            "convolution with one output"
        )
    return layer, inputs[0], after


def _refusal(reason: str) -> ValueError:
    return ValueError(
        f"the energy cannot be given a conditional head: {reason}; make a "
        "model with two inputs, images and labels, instead"
    )

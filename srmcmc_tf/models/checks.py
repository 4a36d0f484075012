"""Checks of what a model is made of: its energy, and the chain's settings."""

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from srmcmc_tf.models import conditional

Shape = tuple[int, ...]


def settings(**values: Any) -> None:
    """Raises `ValueError` if a setting of a chain makes no sense.

    Args:
        **values: some of those of a `Stage`; sigma may be a function.
    """
    for name, value in values.items():
        if name == "K":
            good, rule = _is_index(value), "an integer from 0 up"
        else:
            good = _is_size(value) or (name == "sigma" and callable(value))
            rule = "a finite number from 0 up"
        if not good:
            raise ValueError(f"{name} must be {rule}, not {value!r}")


def n_classes(energy: Any, given: int | None) -> int:
    """The number of classes of a conditional energy; 0 if it is none.

    Args:
        energy: any `keras.Model`.
        given: the number that was given, if any; needed for a model of images
            and labels whose head is not that of `energies.conditional`.
    """
    if not isinstance(energy, keras.Model):
        raise TypeError(
            f"energy must be a keras.Model, not {type(energy).__name__}"
        )
    known = _known(energy, "input_shape")
    found = conditional.n_classes_of(energy)
    if not (given or found) and isinstance(known, list) and len(known) == 2:
        raise ValueError(
            "the energy has two inputs, images and labels: give n_classes=, "
            "the number of classes"
        )
    if given and not (_is_index(given) and given > 1):
        raise ValueError(f"n_classes must be 2 or more, not {given!r}")
    if given and isinstance(known, tuple):
        raise ValueError(
            f"n_classes={given}: the energy takes no labels; give "
            f"srmcmc_tf.energies.conditional(energy, {given})"
        )
    if given and found and given != found:
        raise ValueError(
            f"n_classes={given}, but the energy has a head of {found} classes"
        )
    return given or found


def input_shape(
    energy: Any, image_shape: Sequence[int] | None, n_classes: int = 0
) -> Shape:
    """The shape of an energy's examples; builds the energy if it is not yet.

    Args:
        energy: any `keras.Model` with one input; with two, images and labels,
            if it is conditional.
        image_shape: (h, w, c) of images, (t, c) of series or (d,) of points;
            needed where the energy does not say.
        n_classes: of `n_classes`.

    Returns:
        The shape. `ValueError` if the energy does not take such examples, or
        does not return one value for each.
    """
    known = _known(energy, "input_shape")
    if n_classes and isinstance(known, list):
        known, labels = known
        if labels not in ((None,), (None, 1)):
            raise ValueError(
                "the second input of the energy must be labels [n] or [n, 1], "
                f"not {labels}"
            )
    if isinstance(known, list | dict):
        raise ValueError(f"the energy must have one input, not {len(known)}")
    shape = tuple(image_shape or (known or (None, None))[1:])
    if None in shape:
        raise ValueError(
            "the energy does not say the shape of its images: give "
            "image_shape=(height, width, channels)"
        )
    fits = known is None or (
        len(known) == len(shape) + 1
        and all(a in (None, b) for a, b in zip(known[1:], shape, strict=True))
    )
    if not fits:
        raise ValueError(
            f"image_shape={shape}, but the energy takes {tuple(known[1:])}"
        )
    _check_output(_output_shape(energy, shape, n_classes))
    return shape


def uses_float16(energy: keras.Model) -> bool:
    """Whether a layer computes in float16, whose gradients underflow."""
    return any(layer.compute_dtype == "float16" for layer in _layers(energy))


def _is_index(value: Any) -> bool:
    try:
        return operator.index(value) >= 0 and not isinstance(value, bool)
    except TypeError:
        return False


def _is_size(value: Any) -> bool:
    try:
        return math.isfinite(value) and value >= 0
    except TypeError:
        return False


def _known(energy: keras.Model, name: str) -> Any:
    """A property that only some built models have."""
    try:
        return getattr(energy, name)
    except AttributeError:
        return None


def _output_shape(
    energy: keras.Model, shape: Shape, n_classes: int
) -> tuple[int | None, ...]:
    try:
        if isinstance(energy, keras.Sequential) and not energy.built:
            energy.build((None, *shape))
        known = _known(energy, "output_shape")
        if isinstance(known, tuple) and None not in known[1:]:
            return known
        # A subclass says it only by being called, which also builds it.
        x = tf.zeros([2, *shape])
        inputs = [x, tf.zeros([2], tf.int32)] if n_classes else x
        f = energy(inputs, training=False)
        found = tuple(f.shape)
    except Exception as error:
        line = (str(error).strip() or repr(error)).splitlines()[0]
        raise ValueError(
            f"the energy cannot be called on examples of shape {shape}: {line}"
        ) from error
    # Two examples were given: anything else is no value for each.
    return (None, *found[1:]) if found[:1] == (2,) else found


def _check_output(found: tuple[int | None, ...]) -> None:
    if found[:1] != (None,) or any(size != 1 for size in found[1:]):
        given = ", ".join("n" if d is None else str(d) for d in found)
        raise ValueError(
            "the energy must return one value per example, [n] or [n, 1], not "
            f"[{given}]: end it with keras.layers.Dense(1)"
        )


def _layers(layer: Any) -> Iterator[Any]:
    yield layer
    for inner in getattr(layer, "layers", ()):
        yield from _layers(inner)

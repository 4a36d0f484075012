"""Steps of a chain: Langevin, MALA and Hamiltonian Monte Carlo.

All three move `x` by leapfrog steps with a fresh momentum. In the scale of x,
where `noise` is the time step and v the momentum times it, one of them is

    v = noise * N(0, I) + step_size * f'(x);  x' = x + v;
    v' = v + step_size * f'(x').

One leapfrog step without the last half is Langevin's step; with a Metropolis
correction it is MALA; several are HMC. So all have the same settings, and all
have the same target, the density exp(f(x) / T) with the temperature
T = noise**2 / (2 * step_size): exactly with a correction, approximately
without.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from srmcmc_tf.sampling.rng import AnyStream

Energy = Callable[[tf.Tensor], tf.Tensor]
Project = Callable[[tf.Tensor], tf.Tensor]

NAMES = ("langevin", "mala", "hmc")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kernel:
    """Which step a chain makes; the default is the paper's.

    Args:
        name: "langevin", "mala" (Langevin with a Metropolis correction) or
            "hmc".
        leapfrog: leapfrog steps of "hmc".
        metropolis: whether "hmc" has a Metropolis correction.
        clip: the largest absolute value of an entry of f'; 0 does not clip.
        clamp: the largest absolute value of an entry of x; 0 does not clamp.

    Examples:

    >>> Kernel(name="hmc", leapfrog=5).evaluations
    6
    """

    name: str = "langevin"
    leapfrog: int = 5
    metropolis: bool = True
    clip: float = 0.0
    clamp: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            names = ", ".join(NAMES)
            raise ValueError(f"kernel={self.name!r}: must be one of {names}")
        if self.leapfrog < 1:
            raise ValueError(f"leapfrog={self.leapfrog}: must be 1 or more")
        if self.clip < 0 or self.clamp < 0:
            raise ValueError("clip and clamp must be positive, or 0 for none")
        if self.clamp and self.corrected:
            raise ValueError(
                "clamp would break the Metropolis correction: use langevin, "
                "or hmc with metropolis=False"
            )

    @property
    def corrected(self) -> bool:
        """Whether a step may be rejected."""
        return self.name == "mala" or self.name == "hmc" and self.metropolis

    @property
    def evaluations(self) -> int:
        """Evaluations of f', each of which gives f too, in a step."""
        leaps = self.leapfrog if self.name == "hmc" else 1
        return leaps + self.corrected


LANGEVIN = Kernel()


class Step(NamedTuple):
    """A step of n chains.

    Attributes:
        x: where it leads, [n, ...].
        f: f where it began, [n].
        f_prime_norm: the Euclidean norm of f' there, [n].
        accepted: 1.0 where the step was made, 0.0 where it was rejected, [n].
    """

    x: tf.Tensor
    f: tf.Tensor
    f_prime_norm: tf.Tensor
    accepted: tf.Tensor


def step(
    f: Energy,
    x: tf.Tensor,
    stream: AnyStream,
    k: Any,
    *,
    step_size: Any,
    noise: Any,
    kernel: Kernel = LANGEVIN,
    project: Project | None = None,
) -> Step:
    """Makes step `k` of chains at `x`.

    Args:
        f: callable, a batch [n, ...] to values [n] or [n, 1]; higher is more
            likely.
        x: float32 [n, ...].
        stream: of `rng`; all draws are functions of it and of `k`.
        k: number of the step, an integer scalar.
        step_size: factor of f' in a Langevin step.
        noise: factor of the Gaussian noise in a Langevin step.
        kernel: which step.
        project: orthogonal projection of directions [n, ...] on those in which
            a chain may move; by default it may move in all.
    """
    value, slope = _slope(f, x, kernel, project)
    norm = _norm(slope)
    draw = stream.fold(k).normal(tf.shape(x))
    draw = tf.ensure_shape(draw, x.shape)
    if project is not None:
        draw = project(draw)
    if kernel.evaluations == 1:
        # Minus, though the noise is symmetric: TensorFlow fuses a sum of three
        # into AddN, which adds in an order that depends on timing.
        end = x + step_size * slope - noise * draw
        end = _clamped(end, x, kernel, project)
        return Step(end, value, norm, tf.ones_like(norm))
    v = step_size * slope - noise * draw
    end = x + v
    for _ in range(kernel.leapfrog - 1 if kernel.name == "hmc" else 0):
        _, slope = _slope(f, end, kernel, project)
        v = v + 2.0 * step_size * slope
        end = end + v
    if not kernel.corrected:
        end = _clamped(end, x, kernel, project)
        return Step(end, value, norm, tf.ones_like(norm))
    value_end, slope = _slope(f, end, kernel, project)
    v = v + step_size * slope
    # The change of the Hamiltonian times noise**2, so that it is defined
    # without noise too: then a step is accepted where it raises f enough.
    gain = 2.0 * step_size * (value_end - value)
    gain -= 0.5 * (_square(v) - noise**2 * _square(draw))
    u = 0.5 + 0.5 * stream.fold(k, 1).uniform(tf.shape(x)[:1])
    u = tf.ensure_shape(u, x.shape[:1])
    accept = noise**2 * tf.math.log(u) < gain  # never where gain is NaN
    end = tf.where(accept[(..., *[None] * (x.shape.rank - 1))], end, x)
    return Step(end, value, norm, tf.cast(accept, tf.float32))


class Given(NamedTuple):
    """f(x, y) as a function of x.

    Attributes:
        f: callable, a list of a batch [n, ...] and labels to values.
        y: labels, int32 [n].
    """

    f: Callable[..., tf.Tensor]
    y: tf.Tensor

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self.f([x, self.y])


def given(f: Callable[..., tf.Tensor], y: tf.Tensor | None) -> Any:
    """f as a function of x: f itself, or that of the labels y if any."""
    return f if y is None else Given(f, y)


def gradient(f: Energy, x: tf.Tensor) -> tf.Tensor:
    """f', the gradient of f at `x`."""
    return value_and_gradient(f, x)[1]


def value_and_gradient(f: Energy, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """f as [n], and f', at `x` [n, ...]."""
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        value = f(x)
    return tf.reshape(value, [-1]), tape.gradient(value, x)


def _slope(
    f: Energy, x: tf.Tensor, kernel: Kernel, project: Project | None
) -> tuple[tf.Tensor, tf.Tensor]:
    """f, and f' as the kernel uses it: clipped, and projected."""
    value, slope = value_and_gradient(f, x)
    if kernel.clip:
        slope = tf.clip_by_value(slope, -kernel.clip, kernel.clip)
    return value, slope if project is None else project(slope)


def _clamped(
    end: tf.Tensor, x: tf.Tensor, kernel: Kernel, project: Project | None
) -> tf.Tensor:
    if not kernel.clamp:
        return end
    inside = tf.clip_by_value(end, -kernel.clamp, kernel.clamp)
    return inside if project is None else x + project(inside - x)


def _square(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.square(x), list(range(1, x.shape.rank)))


def _norm(x: tf.Tensor) -> tf.Tensor:
    return tf.sqrt(_square(x))

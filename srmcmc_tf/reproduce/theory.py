"""Section 4 in numbers: short-run MCMC of an exponential family, on a grid.

f(x) = <theta, h(x)> with a bank of fixed features h (the paper's FRAME), in
one dimension, where every distribution is a vector and nothing is estimated. A
step of the chain moves to a neighbor on the grid or stays, and is reversible
with respect to p_theta: the analog of Langevin diffusion on a grid.
"""

import pathlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import optimize

from srmcmc_tf.files import atomic

K = 40
GRID = np.linspace(-1.0, 1.0, 61)
_CENTRES = np.linspace(-0.8, 0.8, 5)
H = np.exp(-0.5 * ((GRID - _CENTRES[:, None]) / 0.25) ** 2)
_KS = (0, 5, 10, 20, 40, 80, 160, 320, 640)

Law = Callable[[np.ndarray], np.ndarray]


class Learned(NamedTuple):
    """Distributions on the grid, each a vector of probabilities.

    Attributes:
        truth: the distribution P of the data.
        p_mle: the EBM that matches E[h] itself.
        q: the K-step chain that matches E[h], from uniform starts.
        p_mme: the EBM that this chain runs on, but does not converge to.
        theta: the weights of `p_mme`.
        theta_mle: the weights of `p_mle`.
    """

    truth: np.ndarray
    p_mle: np.ndarray
    q: np.ndarray
    p_mme: np.ndarray
    theta: np.ndarray
    theta_mle: np.ndarray


def learn() -> Learned:
    """Solves E_q[h] = E_P[h] for the K-step chain, and for the EBM itself."""
    truth = _normalize(
        np.exp(-0.5 * ((GRID + 0.45) / 0.12) ** 2)
        + 0.6 * np.exp(-0.5 * ((GRID - 0.4) / 0.2) ** 2)
    )
    target = H @ truth

    def solve(law: Law, start: np.ndarray) -> np.ndarray:
        found = optimize.least_squares(
            lambda theta: H @ law(theta) - target, start, xtol=1e-15, ftol=1e-15
        )
        return found.x

    mle = solve(ebm, np.zeros(len(H)))
    mme = solve(chain, mle)
    return Learned(truth, ebm(mle), chain(mme), ebm(mme), mme, mle)


def ebm(theta: np.ndarray) -> np.ndarray:
    """Returns p_theta, normalized."""
    f = theta @ H
    return _normalize(np.exp(f - f.max()))


def chain(theta: np.ndarray, K: int = K) -> np.ndarray:
    """Returns the distribution after K steps from uniform starts.

    A neighbor j of i is entered with probability p_j / (p_i + p_j) / 2
    (Barker's rule), which is smooth in theta.
    """
    f = theta @ H
    up = 0.5 / (1.0 + np.exp(f[:-1] - f[1:]))
    i = np.arange(len(up))
    step = np.zeros((len(f), len(f)))
    step[i, i + 1], step[i + 1, i] = up, 0.5 - up
    step[np.diag_indices_from(step)] = 1.0 - step.sum(axis=1)
    start = np.full(len(f), 1.0 / len(f))
    return start @ np.linalg.matrix_power(step, K)


def kl(p: np.ndarray, q: np.ndarray) -> float:
    """Returns the Kullback-Leibler divergence KL(p | q)."""
    return float(np.sum(p * np.log(np.maximum(p, 1e-300) / q)))


def entropy(p: np.ndarray) -> float:
    """Returns the entropy of p in nats."""
    return float(-np.sum(p * np.log(np.maximum(p, 1e-300))))


def sandwich(law: Law, theta: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Returns the asymptotic covariance of sqrt(n) (estimate - theta).

    The estimate solves E_law[h] = mean of h over n data. With the Jacobian A
    of E_law[h] by theta it has A^-1 Var_P[h] A^-T; for the EBM itself A is
    Var_p[h], the Fisher information.
    """
    inverse = np.linalg.inv(_jacobian(law, theta))
    centered = H - (H @ truth)[:, None]
    return inverse @ (truth * centered @ centered.T) @ inverse.T


def simulate(
    law: Law, theta: np.ndarray, truth: np.ndarray, *, n: int, datasets: int
) -> np.ndarray:
    """Returns n Var[estimate] of each weight over simulated sets of n data."""
    generator = np.random.default_rng(0)
    estimates = []
    for counts in generator.multinomial(n, truth, size=datasets):
        estimate = theta
        for _ in range(20):
            gap = H @ (law(estimate) - counts / n)
            if np.abs(gap).max() < 1e-10:
                break
            step = np.linalg.solve(_jacobian(law, estimate), gap)
            estimate = estimate - step
        else:
            raise RuntimeError("Newton's method did not converge")
        estimates.append(estimate)
    return n * np.var(estimates, axis=0, ddof=1)


def table(
    laws: Learned, *, n: int = 100_000, datasets: int = 1000
) -> list[str]:
    """Returns the statements of section 4 with their numbers, a line each."""
    q, mle, mme, truth = laws.q, laws.p_mle, laws.p_mme, laws.truth
    whole, parts = kl(q, mme), kl(q, mle) + kl(mle, mme)
    data, data_parts = kl(truth, mme), kl(truth, mle) + kl(mle, mme)
    falls = ", ".join(f"{kl(chain(laws.theta, k), mme):.3g}" for k in _KS)
    lines = [
        f"moments: E[h] of the {K}-step chain q differs from the data's by at "
        f"most {np.abs(H @ (q - truth)).max():.1e}, that of p_mme, on which it "
        f"runs, by {np.abs(H @ (mme - truth)).max():.2f}",
        f"Pythagoras for q: KL(q | p_mme) = {whole:.6f}, KL(q | p_mle) + "
        f"KL(p_mle | p_mme) = {parts:.6f}",
        f"Pythagoras for the data: KL(P | p_mme) = {data:.6f}, KL(P | p_mle) + "
        f"KL(p_mle | p_mme) = {data_parts:.6f}",
        f"KL(q_K | p_mme) for K = {', '.join(map(str, _KS))}: {falls}",
        f"entropies: p_mle {entropy(mle):.4f}, q {entropy(q):.4f}, less by "
        f"{entropy(mle) - entropy(q):.4f} = KL(q | p_mle) {kl(q, mle):.4f}",
    ]
    for name, law, theta in (
        ("q", chain, laws.theta),
        ("p_mle", ebm, laws.theta_mle),
    ):
        formula = np.diag(sandwich(law, theta, truth))
        found = simulate(law, theta, truth, n=n, datasets=datasets)
        lines.append(
            f"n Var of the estimates by {name}, {datasets} sets of n={n:,}: "
            f"{_join(found)}; by the sandwich formula {_join(formula)}; ratios "
            f"{', '.join(f'{r:.2f}' for r in found / formula)} (standard error "
            f"{np.sqrt(2 / (datasets - 1)):.2f})"
        )
    return lines


def figure(path: pathlib.Path, laws: Learned) -> None:
    """Draws Figure 5 of the paper from the distributions, as a PNG."""
    drawn = Figure(figsize=(12, 3.8))
    left, middle, right = drawn.subplots(1, 3)
    for name, style in (
        ("truth", "k-"),
        ("p_mle", "g--"),
        ("q", "r-"),
        ("p_mme", "r:"),
    ):
        left.plot(GRID, getattr(laws, name), style, label=name)
    left.set(title="distributions on the grid", xlabel="x")
    left.legend()
    _draw_triangle(middle, laws)
    to_target = [kl(chain(laws.theta, k), laws.p_mme) for k in _KS]
    right.plot(_KS, to_target, "r.-")
    right.set(title="KL(q_K | p_mme)", xlabel="steps K", yscale="log")
    drawn.tight_layout()
    with atomic.writer(path) as file:
        drawn.savefig(file, dpi=100, format="png")


def _draw_triangle(axes: Axes, laws: Learned) -> None:
    """The families Omega and Theta; lengths are sqrt(2 KL), so that the
    identities of Pythagoras are those of the picture."""
    points = {
        "p_mle": (0.0, 0.0),
        "p_mme": (0.0, _length(laws.p_mle, laws.p_mme)),
        "q": (_length(laws.q, laws.p_mle), 0.0),
        "truth": (-_length(laws.truth, laws.p_mle), 0.0),
    }
    axes.axhline(0, color="0.7")
    axes.axvline(0, color="0.7")
    for name in ("q", "truth"):
        axes.plot(*zip(points[name], points["p_mme"], strict=True), "0.4")
    offsets = {
        "p_mle": (-16, 8),
        "p_mme": (8, 0),
        "q": (8, 8),
        "truth": (-38, 6),
    }
    for name, point in points.items():
        axes.plot(*point, "o", color="r" if name == "q" else "k")
        axes.annotate(
            name, point, xytext=offsets[name], textcoords="offset points"
        )
    axes.set(
        title="lengths sqrt(2 KL)",
        xlabel="Omega: E[h] of the data",
        ylabel="Theta: p_theta",
    )
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.2)


def _length(p: np.ndarray, q: np.ndarray) -> float:
    return float(np.sqrt(2.0 * kl(p, q)))


def _jacobian(law: Law, theta: np.ndarray, step: float = 1e-4) -> np.ndarray:
    """d E_law[h] / d theta, by central differences."""
    columns = [
        H @ (law(theta + step * e) - law(theta - step * e)) / (2.0 * step)
        for e in np.eye(len(theta))
    ]
    return np.stack(columns, axis=1)


def _join(values: np.ndarray) -> str:
    return ", ".join(f"{v:.4g}" for v in values)


def _normalize(p: np.ndarray) -> np.ndarray:
    return p / p.sum()

"""Figure 5 in numbers: short-run MCMC of an exponential family, on a grid.

f(x) = <theta, h(x)> with a bank of fixed features h (the paper's FRAME), in
one dimension, where every distribution is a vector and nothing is estimated. A
step of the chain moves to a neighbor on the grid or stays, and is reversible
with respect to p_theta: the analog of Langevin diffusion on a grid.
"""

import pathlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy import optimize

from srmcmc_tf.files import atomic

GRID = np.linspace(-1.0, 1.0, 61)
_CENTRES = np.linspace(-0.8, 0.8, 5)
H = np.exp(-0.5 * ((GRID - _CENTRES[:, None]) / 0.25) ** 2)


class Learned(NamedTuple):
    """Distributions on the grid, each a vector of probabilities.

    Attributes:
        truth: the distribution P of the data.
        p_mle: the EBM that matches E[h] itself.
        q: the K-step chain that matches E[h], from uniform starts.
        p_mme: the EBM that this chain runs on, but does not converge to.
        theta: the weights of `p_mme`.
    """

    truth: np.ndarray
    p_mle: np.ndarray
    q: np.ndarray
    p_mme: np.ndarray
    theta: np.ndarray


def learn(K: int = 40) -> Learned:
    """Solves E_q[h] = E_P[h] for the K-step chain, and for the EBM itself."""
    truth = _normalize(
        np.exp(-0.5 * ((GRID + 0.45) / 0.12) ** 2)
        + 0.6 * np.exp(-0.5 * ((GRID - 0.4) / 0.2) ** 2)
    )
    target = H @ truth

    def solve(
        law: Callable[[np.ndarray], np.ndarray], start: np.ndarray
    ) -> np.ndarray:
        found = optimize.least_squares(
            lambda theta: H @ law(theta) - target, start, xtol=1e-15, ftol=1e-15
        )
        return found.x

    mle = solve(ebm, np.zeros(len(H)))
    mme = solve(lambda theta: chain(theta, K), mle)
    return Learned(truth, ebm(mle), chain(mme, K), ebm(mme), mme)


def ebm(theta: np.ndarray) -> np.ndarray:
    """Returns p_theta, normalized."""
    f = theta @ H
    return _normalize(np.exp(f - f.max()))


def chain(theta: np.ndarray, K: int) -> np.ndarray:
    """Returns the distribution after K steps from uniform starts."""
    p = ebm(theta)
    step = np.zeros((len(p), len(p)))
    i = np.arange(len(p) - 1)
    step[i, i + 1] = 0.5 * np.minimum(1.0, p[1:] / p[:-1])
    step[i + 1, i] = 0.5 * np.minimum(1.0, p[:-1] / p[1:])
    step[np.diag_indices_from(step)] = 1.0 - step.sum(axis=1)
    start = np.full(len(p), 1.0 / len(p))
    return start @ np.linalg.matrix_power(step, K)


def kl(p: np.ndarray, q: np.ndarray) -> float:
    """Returns the Kullback-Leibler divergence KL(p, q)."""
    return float(np.sum(p * np.log(np.maximum(p, 1e-300) / q)))


def figure(path: pathlib.Path) -> list[str]:
    """Draws the distributions and their divergences as a PNG.

    Returns:
        Lines of text with what was checked.
    """
    laws = learn()
    Ks = [0, 5, 10, 20, 40, 80, 160, 320, 640]
    to_target = [kl(chain(laws.theta, K), laws.p_mme) for K in Ks]
    drawn = Figure(figsize=(9, 3.6))
    left, right = drawn.subplots(1, 2)
    for name, style in (
        ("truth", "k-"),
        ("p_mle", "g--"),
        ("q", "r-"),
        ("p_mme", "r:"),
    ):
        left.plot(GRID, getattr(laws, name), style, label=name)
    left.set(title="laws on the grid", xlabel="x")
    left.legend()
    right.plot(Ks, to_target, "r.-")
    right.set(title="KL(q_K, p_mme)", xlabel="steps K", yscale="log")
    drawn.tight_layout()
    with atomic.writer(path) as file:
        drawn.savefig(file, dpi=100, format="png")
    whole = kl(laws.q, laws.p_mme)
    parts = kl(laws.q, laws.p_mle) + kl(laws.p_mle, laws.p_mme)
    return [
        "the 40-step chain's E[h] differs from the data's by at most "
        f"{np.abs(H @ (laws.q - laws.truth)).max():.1e}, the EBM's that it "
        f"runs on by {np.abs(H @ (laws.p_mme - laws.truth)).max():.2f}",
        f"Pythagoras: KL(q, p_mme) = {whole:.6f} = KL(q, p_mle) + "
        f"KL(p_mle, p_mme) = {parts:.6f}",
        "KL(q_K, p_mme) falls with K: "
        + ", ".join(f"{v:.3g}" for v in to_target),
        f"entropies: truth {_entropy(laws.truth):.2f}, p_mle "
        f"{_entropy(laws.p_mle):.2f}, q {_entropy(laws.q):.2f}, p_mme "
        f"{_entropy(laws.p_mme):.2f}",
    ]


def _entropy(p: np.ndarray) -> float:
    return float(-np.sum(p * np.log(np.maximum(p, 1e-300))))


def _normalize(p: np.ndarray) -> np.ndarray:
    return p / p.sum()

"""The paper's tables and figures, and the runs that repeat them."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from srmcmc_tf.config.config import Config
from srmcmc_tf.reproduce import figures, scales

Configure = Callable[..., Config]
# Of Table 3 at scale `cpu`, at half the cost of the paper's 100: in Table 2 at
# this scale, FID at 50 is 144 and at 100 it is 135.
_K_CPU = 50


class Experiment(NamedTuple):
    """One training run and the paper's values for it.

    Attributes:
        label: what distinguishes it in its table.
        config: its `Config`.
        paper: the paper's values, by metric; the same are measured here.
    """

    label: str
    config: Config
    paper: dict[str, float]


class Table(NamedTuple):
    """A table of the paper.

    Attributes:
        title: what it shows.
        runs: its experiments, in the paper's order.
    """

    title: str
    runs: list[Experiment]


class Figure(NamedTuple):
    """A figure of the paper, drawn from a run.

    Attributes:
        title: what it shows.
        config: the run's `Config`.
        draw: writes its pictures; see `figures`.
    """

    title: str
    config: Config
    draw: figures.Draw


class Theory(NamedTuple):
    """Figure 5: identities of the paper's section 4, without any run."""

    title: str


Part = Table | Figure | Theory
Plan = dict[str, list[Part]]


def plan(scale: str, data_dir: str = "") -> Plan:
    """Returns what each name of bin/reproduce stands for.

    Args:
        scale: one of `scales.SCALES`.
        data_dir: a directory that holds the datasets, as folders of images
            (`celeb_a/`, `lsun_bedroom/`) or as TFDS stores them.
    """

    def configure(dataset: str, **settings: Any) -> Config:
        return scales.config(dataset, scale, data_dir, **settings)

    of_table = functools.partial(configure, table=True)
    faces = configure("celeb_a")
    return {
        "table1": [_fidelity(of_table, scale)],
        "table2": [_steps(of_table)],
        "table3a": [_noise(of_table)],
        "table3b": [_features(of_table)],
        "figure1": [
            Figure(
                f"From noise to faces in K steps ({_size(faces)})",
                faces,
                figures.trace,
            )
        ],
        "figure2": [_samples(configure("celeb_a_128"))],
        "figure3": [
            Figure(
                "Interpolation, z = rho z1 + sqrt(1 - rho^2) z2",
                faces,
                figures.interpolation,
            )
        ],
        "figure4": [
            Figure(
                "Reconstruction of left-out faces by descent on z",
                faces,
                figures.reconstruction,
            )
        ],
        "theory": [
            Theory(
                "Figure 5, section 4: why a chain that does not converge is a "
                "valid model"
            )
        ],
        "figure6": [
            _samples(configure(name))
            for name in ("cifar10", "celeb_a", "lsun_bedroom")
        ],
        "figure7": [
            Figure(
                f"Trained with K={faces.K}, sampled with other K",
                faces,
                figures.steps,
            )
        ],
        "toys": [
            Figure(
                f"Densities of the truth, the EBM and its samples, {dimension}",
                scales.toy(name, scale),
                figures.last_picture,
            )
            for name, dimension in (("toy_1d", "1-D"), ("toy_2d", "2-D"))
        ],
    }


def directory(config: Config) -> str:
    """Returns the name of a run's directory; equal runs share it."""
    named = {"K": config.K, "sigma": config.sigma, "n_f": config.n_f}
    settings = [f"{name}={value:g}" for name, value in named.items()]
    size = [] if config.data.points else [_size(config)]
    return "_".join([config.dataset, *size, config.model, *settings])


def _steps(configure: Configure) -> Table:
    columns = {
        5: (0.15, 213.08, 2.06, 7.78),
        10: (0.1, 182.5, 2.27, 3.85),
        25: (0.05, 92.13, 4.06, 1.76),
        50: (0.04, 68.28, 4.82, 0.97),
        75: (0.03, 65.37, 4.88, 0.65),
        100: (0.03, 63.81, 4.92, 0.49),
    }
    runs = [
        Experiment(
            f"K={K}",
            configure("cifar10", n_f=32, K=K, sigma=sigma),
            {"fid": fid, "is": score, "f_prime_norm": prime},
        )
        for K, (sigma, fid, score, prime) in columns.items()
    ]
    return Table("Influence of the number of steps K (CIFAR-10)", runs)


def _noise(configure: Configure) -> Table:
    columns = {
        0.1: (132.51, 4.05),
        0.08: (117.36, 4.20),
        0.06: (94.72, 4.63),
        0.05: (83.15, 4.78),
        0.04: (65.71, 4.83),
        0.03: (63.81, 4.92),
    }
    runs = [
        Experiment(
            f"sigma={sigma:g}",
            configure("cifar10", n_f=32, sigma=sigma, cpu={"K": _K_CPU}),
            {"fid": fid, "is": score},
        )
        for sigma, (fid, score) in columns.items()
    ]
    return Table("Influence of the data's noise (CIFAR-10)", runs)


def _features(configure: Configure) -> Table:
    columns = {32: (63.81, 4.92), 64: (46.61, 5.49), 128: (44.50, 6.21)}
    runs = []
    for n_f, (fid, score) in columns.items():
        smaller = {"n_f": n_f // 8, "K": _K_CPU}
        config = configure("cifar10", n_f=n_f, cpu=smaller)
        other = "" if config.n_f == n_f else f" (paper: {n_f})"
        label = f"n_f={config.n_f}{other}"
        runs.append(Experiment(label, config, {"fid": fid, "is": score}))
    return Table("Influence of the features n_f (CIFAR-10)", runs)


def _fidelity(configure: Configure, scale: str) -> Table:
    """The paper gives IS for CIFAR-10 and FID for the other two.

    At scale `cpu` CIFAR-10 alone: the others are large downloads.
    """
    columns = {
        ("cifar10", "vae"): ("is", 4.28, 0.0421),
        ("cifar10", "dcgan"): ("is", 6.16, 0.0407),
        ("cifar10", "ebm"): ("is", 6.21, 0.0387),
        ("celeb_a", "vae"): ("fid", 79.09, 0.0341),
        ("celeb_a", "dcgan"): ("fid", 32.71, 0.0359),
        ("celeb_a", "ebm"): ("fid", 23.02, 0.0271),
        ("lsun_bedroom", "vae"): ("fid", 183.18, 0.0440),
        ("lsun_bedroom", "dcgan"): ("fid", 54.17, 0.0592),
        ("lsun_bedroom", "ebm"): ("fid", 44.16, 0.0272),
    }
    runs = [
        Experiment(
            f"{dataset} {model}",
            configure(dataset, model=model),
            {name: value, "mse": mse},
        )
        for (dataset, model), (name, value, mse) in columns.items()
        if scale != "cpu" or dataset == "cifar10"
    ]
    return Table("Quality of synthesis and reconstruction", runs)


def _samples(config: Config) -> Figure:
    title = f"Samples of {config.dataset} ({_size(config)})"
    return Figure(title, config, figures.samples)


def _size(config: Config) -> str:
    return f"{config.image_size}x{config.image_size}"

"""What the paper reports, and the runs that repeat it, at three scales.

`paper` is the paper's own setting. `cpu` asks the same question of smaller
networks, fewer updates and fewer samples, on the same data. `smoke` only goes
through all the motions, on the embedded digits.
"""

import dataclasses
import os
from typing import NamedTuple

from srmcmc_tf.config import config as configs
from srmcmc_tf.config import presets

SCALES = ("paper", "cpu", "smoke")
# Samples to measure FID, KID and IS on. Fewer than Inception has features
# (2,048) bias FID, equally for all runs of a table; a warning says so.
N = {"paper": 40_000, "cpu": 1_000, "smoke": 64}
# Left-out examples to reconstruct: each takes 200 descents through K steps.
N_MSE = {"paper": 1_000, "cpu": 10, "smoke": 8}

_CPU = dict(
    image_size=32,
    n_examples=2_500,
    n_left_out=100,
    batch_size=16,
    updates=400,
    learning_rate_half_life=0,
    sigma_half_life=0,
    sample_every=200,
    checkpoint_every=100,
)
# For so few updates. With n_f=16, K=5 and K=25 diverged at it, and K=5 even at
# the paper's rate; with n_f=32 none does.
_CPU_RATE = 5e-4
_SMOKE = dict(
    n_examples=200,
    n_left_out=8,
    n_f=4,
    updates=6,
    batch_size=8,
    anneal_after=4,
    sample_every=3,
    checkpoint_every=3,
)


class Run(NamedTuple):
    """One training run and what the paper found.

    Attributes:
        label: what sets it apart in its table.
        config: its `Config`.
        paper: the paper's values, by metric; ours are measured for the same.
    """

    label: str
    config: configs.Config
    paper: dict


class Table(NamedTuple):
    """A table of the paper.

    Attributes:
        title: what it shows.
        runs: its `Run`s, in the paper's order.
    """

    title: str
    runs: list


class Figure(NamedTuple):
    """A figure of the paper, drawn by a verb from a run.

    Where there is no verb, it is the run's own last picture.

    Attributes:
        title: what it shows.
        config: the run's `Config`.
        verb: a module of `cli`, such as "sample", or None.
        arguments: its flags, beside --workdir and --out.
        pictures: what it draws, file names.
    """

    title: str
    config: configs.Config
    verb: str | None
    arguments: tuple
    pictures: tuple


class Theory(NamedTuple):
    """Figure 5: identities of the paper's section 4, without any run."""

    title: str


def plan(scale, data_dir=""):
    """What each name of bin/reproduce stands for.

    Args:
        scale: one of `SCALES`.
        data_dir: a directory that holds the data sets, as folders of images
            (`celeb_a/`, `lsun_bedroom/`) or as TFDS keeps them.

    Returns:
        A dictionary of lists of `Table`s, `Figure`s and `Theory`.
    """

    def of(dataset, **settings):
        return _config(dataset, scale, data_dir, **settings)

    faces = of("celeb_a")
    return {
        "table1": [_fidelity(of)],
        "table2": [_steps(of)],
        "table3": [_noise(of), _features(of)],
        "figure1": [
            Figure(
                f"From noise to faces in K steps ({_size(faces)})",
                faces,
                "sample",
                ("--trace",),
                ("grid.png", "trace.png"),
            )
        ],
        "figure2": [_samples(of("celeb_a_128"))],
        "figure3": [
            Figure(
                "Interpolation, z = rho z1 + sqrt(1 - rho^2) z2",
                faces,
                "interpolate",
                (),
                ("interpolation.png",),
            )
        ],
        "figure4": [
            Figure(
                "Reconstruction of left-out faces by descent on z",
                faces,
                "reconstruct",
                ("--n=8",),
                ("reconstruction.png",),
            )
        ],
        "figure5": [
            Theory("Why a chain that does not converge is a valid model")
        ],
        "figure6": [
            _samples(of(name))
            for name in ("cifar10", "celeb_a", "lsun_bedroom")
        ],
        "figure7": [
            Figure(
                f"Trained with K={faces.K}, sampled with other K",
                faces,
                "sample",
                (f"--K=0,{-(-faces.K // 5)},...,{2 * faces.K}", "--seeds=0-7"),
                ("K.png",),
            )
        ],
        "toys": [
            Figure(
                f"Densities of the truth, the EBM and its samples, {words}",
                _toy(name, scale),
                None,
                (),
                (),
            )
            for name, words in (("toy_1d", "1-D"), ("toy_2d", "2-D"))
        ],
    }


def directory(config):
    """The name of a run's directory: runs that are alike share it."""
    named = {"K": config.K, "sigma": config.sigma, "n_f": config.n_f}
    settings = [f"{name}={value:g}" for name, value in named.items()]
    return "_".join([config.dataset, config.model, *settings])


def _steps(of):
    columns = {
        5: (0.15, 213.08, 2.06, 7.78),
        10: (0.1, 182.5, 2.27, 3.85),
        25: (0.05, 92.13, 4.06, 1.76),
        50: (0.04, 68.28, 4.82, 0.97),
        75: (0.03, 65.37, 4.88, 0.65),
        100: (0.03, 63.81, 4.92, 0.49),
    }
    runs = [
        Run(
            f"K={K}",
            of("cifar10", n_f=32, K=K, sigma=sigma),
            {"fid": fid, "is": score, "f_prime_norm": prime},
        )
        for K, (sigma, fid, score, prime) in columns.items()
    ]
    return Table("Influence of the number of steps K (CIFAR-10)", runs)


def _noise(of):
    columns = {
        0.1: (132.51, 4.05),
        0.08: (117.36, 4.20),
        0.06: (94.72, 4.63),
        0.05: (83.15, 4.78),
        0.04: (65.71, 4.83),
        0.03: (63.81, 4.92),
    }
    runs = [
        Run(
            f"sigma={sigma:g}",
            of("cifar10", n_f=32, sigma=sigma),
            {"fid": fid, "is": score},
        )
        for sigma, (fid, score) in columns.items()
    ]
    return Table("Influence of the data's noise (CIFAR-10)", runs)


def _features(of):
    columns = {32: (63.81, 4.92), 64: (46.61, 5.49), 128: (44.50, 6.21)}
    runs = []
    for n_f, (fid, score) in columns.items():
        config = of("cifar10", n_f=n_f, n_f_cpu=n_f // 4)
        other = "" if config.n_f == n_f else f" (paper: {n_f})"
        label = f"n_f={config.n_f}{other}"
        runs.append(Run(label, config, {"fid": fid, "is": score}))
    return Table("Influence of the features n_f (CIFAR-10)", runs)


def _fidelity(of):
    """The paper gives IS for CIFAR-10 and FID for the other two."""
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
        Run(
            f"{dataset} {model}",
            of(dataset, model=model),
            {name: value, "mse": mse},
        )
        for (dataset, model), (name, value, mse) in columns.items()
    ]
    return Table("Quality of synthesis and reconstruction", runs)


def _samples(config):
    title = f"Samples of {config.dataset} ({_size(config)})"
    return Figure(title, config, "sample", (), ("grid.png",))


def _size(config):
    return f"{config.image_size}x{config.image_size}"


def _config(dataset, scale, data_dir, model="ebm", n_f_cpu=32, **settings):
    """The paper's config of a data set with some settings, made smaller."""
    paper = dataclasses.replace(presets.load(dataset, model), **settings)
    if scale == "smoke":
        # The embedded digits stand in for every data set, and runs that
        # differ by K alone for all others: a run is mostly its start.
        digits = presets.load("digits", model)
        K = max(paper.K // 25, 1)
        return dataclasses.replace(digits, **_SMOKE, K=K)
    folder = os.path.join(data_dir, dataset.removesuffix("_128"))
    where = folder if os.path.isdir(folder) and data_dir else data_dir
    if scale == "cpu":
        paper = dataclasses.replace(paper, **_CPU, n_f=n_f_cpu)
        if model == "ebm":
            paper = dataclasses.replace(paper, learning_rate=_CPU_RATE)
    else:  # the paper had none
        paper = dataclasses.replace(paper, guard="off")
    return dataclasses.replace(paper, data_dir=where)


def _toy(name, scale):
    """A toy is small enough for any machine as it is."""
    settings = {"updates": 6} if scale == "smoke" else {}
    return dataclasses.replace(presets.load(name), **settings)

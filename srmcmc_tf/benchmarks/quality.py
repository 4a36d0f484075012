"""Time to quality: the paper's recipe and the improved one on CIFAR-10.

The paper's recipe is one run, measured after an eighth, a quarter, a half and
all of its CPU time. The improved recipe lowers its learning rate towards the
end of a run and is good at the end only, so it is a run of its own for a fifth
of each of these times, and one for all of it.

Hours; everything is resumed by the same command.
"""

import pathlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from srmcmc_tf.benchmarks import cpu_time
from srmcmc_tf.config import presets
from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import evaluate
from srmcmc_tf.files import atomic, json_file, paths
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import train

START = 10.0  # CPU seconds of the start of a run, roughly
PARTS = (1 / 8, 1 / 4, 1 / 2, 1.0)
SHARE = 1 / 5  # of the paper's time, in which the improved recipe is compared
# The runs of the improved recipe are made for a little less than their time:
# one that takes longer than T/5 is not compared.
MARGIN = 0.95
# Training images to compare with. All 40,000 take Inception 95 minutes of a
# core, and move FID by a constant.
N_REAL = 2_500

# recipe, updates, cpu_seconds, n, fid, kid, and the errors of the last two
Point = dict[str, Any]


class Leg(NamedTuple):
    """Some updates of a run, after which it is measured.

    Attributes:
        recipe: "paper" or "pyramid".
        directory: of the run.
        config: its settings; `updates` is where it is measured.
    """

    recipe: str
    directory: pathlib.Path
    config: Config


def quality(
    workdir: pathlib.Path,
    minutes: float,
    n: int,
    inception: str,
    given: dict[str, Any] | None = None,
) -> Iterator[str]:
    """Trains and measures what is missing; yields a line for each point.

    Args:
        workdir: directory of the runs and of the results.
        minutes: CPU minutes of each recipe.
        n: samples of an evaluation.
        inception: path of Inception's weights.
        given: settings of both recipes that differ, for a test.
    """
    if inception:
        paths.existing(inception)  # before hours of training
    points: list[Point] = []
    real = workdir / f"cifar10_{N_REAL}.npz"
    seconds = _costs(workdir / "costs.json", given or {})
    for leg in legs(workdir, minutes, seconds, given or {}):
        if not real.exists():
            _write_real(real, leg.config)
        points.append(_measure(leg, n, real, inception))
        # After every point: a run of hours may be stopped early.
        atomic.write_json(workdir / "quality.json", points)
        _draw(workdir / "quality.png", points)
        yield describe(points[-1])
    yield from compare(points)
    yield f"{workdir / 'quality.json'} and .png"


def legs(
    workdir: pathlib.Path,
    minutes: float,
    seconds: dict[str, float],
    given: dict[str, Any],
) -> list[Leg]:
    """Returns the legs in the order in which they are run.

    Where the minutes are few, several are a single update; one is returned.

    Args:
        workdir: directory of the runs.
        minutes: CPU minutes of each recipe.
        seconds: CPU seconds of an update of each recipe.
        given: settings of both recipes that differ, for a test.
    """

    def leg(recipe: str, share: float, name: str = "") -> Leg:
        updates = round((60 * minutes * share - START) / seconds[recipe])
        updates = max(updates, 1)
        config = _config(recipe, {"updates": updates, **given})
        return Leg(recipe, workdir / (name or f"pyramid_{updates}"), config)

    shares = [*(SHARE * part for part in PARTS), 1.0]
    found = [
        *(leg("paper", part, "paper") for part in PARTS),
        *(leg("pyramid", MARGIN * share) for share in shares),
    ]
    return [leg for i, leg in enumerate(found) if leg not in found[:i]]


def _config(recipe: str, given: dict[str, Any]) -> Config:
    return presets.load("cifar10", recipe=recipe, given={"n_f": 32, **given})


def _costs(
    path: pathlib.Path, given: dict[str, Any], least: float = 10.0
) -> dict[str, float]:
    """Returns the CPU seconds of an update, measured once for a directory.

    They differ by machine and decide how many updates fit into the minutes;
    what is reported is the time that the runs took.

    Args:
        path: where they are kept.
        given: settings of both recipes that differ, for a test.
        least: CPU seconds that a measurement takes, or more.
    """
    schema = {"paper": float, "pyramid": float}
    found = json_file.read(path, schema, remedy="delete it")
    if found is None:
        found = {
            recipe: cpu_time.of_an_update(_config(recipe, given), least)
            for recipe in schema
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_json(path, found)
    return found


def describe(point: Point) -> str:
    """Returns the line of a point."""
    return (
        f"{point['recipe']}: {point['cpu_seconds']:,.0f} CPU seconds, "
        f"{point['updates']:,} updates: "
        f"FID {point['fid']:.1f} +- {point['fid_error']:.1f}, "
        f"KID {point['kid']:.4f} +- {point['kid_error']:.4f} "
        f"(standard errors, n={point['n']:,})"
    )


def compare(points: Sequence[Point]) -> list[str]:
    """Returns whether the improved recipe takes a fifth of the paper's time.

    Args:
        points: of both recipes.

    Returns:
        A line for each T at which the paper's recipe was measured.
    """
    lines = []
    for paper in (p for p in points if p["recipe"] == "paper"):
        T = paper["cpu_seconds"]
        early = [
            p
            for p in points
            if p["recipe"] == "pyramid" and p["cpu_seconds"] <= SHARE * T
        ]
        line = f"T={T:,.0f} CPU seconds, FID of the paper {paper['fid']:.1f}: "
        if not early:
            lines.append(line + "the improved recipe has no point before T/5")
            continue
        best = min(early, key=lambda p: p["fid"])
        said = "reached" if best["fid"] <= paper["fid"] else "NOT reached"
        lines.append(
            f"{line}{said} by T/5 (T/{T / best['cpu_seconds']:.1f}: "
            f"{best['fid']:.1f})"
        )
    return lines


def _write_real(path: pathlib.Path, config: Config) -> None:
    """Writes the training images that all samples are compared with."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic.writer(path) as file:
        np.savez(file, x=examples.load(config).observed[:N_REAL])


def _measure(leg: Leg, n: int, real: pathlib.Path, inception: str) -> Point:
    """Trains a run up to an update and measures it; or reads what it was."""
    updates = leg.config.updates
    path = leg.directory / f"quality_{updates}_{n}.json"
    found = json_file.read(path, dict, remedy="delete it")
    if found is None:
        seconds = leg.directory / "cpu_seconds.json"
        with cpu_time.added_to(seconds):
            if train.train(leg.config, leg.directory) is not None:
                raise UserError("interrupted; the same command resumes it")
        records = evaluate.evaluate_run(
            Run(leg.directory),
            n=n,
            metrics=("fid", "kid"),
            real=real,
            inception=inception,
        )
        found = {
            "recipe": leg.recipe,
            "updates": updates,
            "cpu_seconds": cpu_time.read(seconds),
            "n": n,
        }
        # A network other than Inception has names of its own for them.
        for name, record in zip(("fid", "kid"), records.values(), strict=True):
            found[name] = record["value"]
            found[f"{name}_error"] = record["standard_error"]
        atomic.write_json(path, found)
    return found


def _draw(path: pathlib.Path, points: list[Point]) -> None:
    """Draws both metrics against CPU time, with bars of two standard errors."""
    figure = Figure((10, 4), layout="constrained")
    paper, pyramid = (
        sorted(
            (p for p in points if p["recipe"] == recipe),
            key=lambda p: p["cpu_seconds"],
        )
        for recipe in ("paper", "pyramid")
    )
    for i, metric in enumerate(("fid", "kid")):
        axes = figure.add_subplot(1, 2, i + 1)
        for own, style, label in (
            (paper, "o-", "the paper's recipe"),
            (pyramid, "s-", "--recipe=pyramid"),
        ):
            axes.errorbar(
                [p["cpu_seconds"] for p in own],
                [p[metric] for p in own],
                [2 * p[f"{metric}_error"] for p in own],
                fmt=style,
                capsize=3,
                label=label,
            )
        axes.plot(
            [SHARE * p["cpu_seconds"] for p in paper],
            [p[metric] for p in paper],
            "o:",
            color="gray",
            mfc="none",
            label=f"the paper's in 1/{1 / SHARE:.0f} of its time",
        )
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("CPU seconds of training")
        axes.set_title(f"{metric.upper()} (n={points[0]['n']:,})")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    with atomic.writer(path) as file:
        figure.savefig(file, dpi=100, format="png")

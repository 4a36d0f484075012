"""Time to quality: the paper's recipe and the improved one on CIFAR-10.

The paper's recipe is one run, measured after an eighth, a quarter, a half and
all of its CPU time. The improved recipe lowers its learning rate towards the
end of a run and is good at the end only, so it is a run of its own for a fifth
of each of these times, and one for all of it.

Hours; everything is resumed by the same command.
"""

import contextlib
import pathlib
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from srmcmc_tf.config import presets
from srmcmc_tf.config.config import Config
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import evaluate
from srmcmc_tf.files import atomic, json_file
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training import train

# CPU seconds of an update, roughly: they decide how many updates are made; what
# is reported is the time they took. "paper" is from earlier trials, 5.8 seconds
# of 2 cores; "pyramid" is low, about 0.75 was seen since.
SECONDS = {"paper": 11.6, "pyramid": 0.6}
PARTS = (1 / 8, 1 / 4, 1 / 2, 1.0)
SHARE = 1 / 5  # of the paper's time, in which the improved recipe is compared

Point = dict[str, Any]  # recipe, updates, cpu_seconds, n, fid, kid


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
    points: list[Point] = []
    for leg in legs(workdir, minutes, given or {}):
        points.append(_measure(leg, n, inception))
        yield describe(points[-1])
    atomic.write_json(workdir / "quality.json", points)
    _draw(workdir / "quality.png", points)
    yield f"{workdir / 'quality.json'} and .png"


def legs(
    workdir: pathlib.Path, minutes: float, given: dict[str, Any]
) -> list[Leg]:
    """Returns the legs in the order in which they are run."""

    def leg(recipe: str, share: float, name: str = "") -> Leg:
        updates = max(round(60 * minutes * share / SECONDS[recipe]), 1)
        settings = {"updates": updates, "n_f": 32, **given}
        config = presets.load("cifar10", recipe=recipe, given=settings)
        return Leg(recipe, workdir / (name or f"pyramid_{updates}"), config)

    shares = [*(SHARE * part for part in PARTS), 1.0]
    return [
        *(leg("paper", part, "paper") for part in PARTS),
        *(leg("pyramid", share) for share in shares),
    ]


def describe(point: Point) -> str:
    """Returns the line of a point."""
    return (
        f"{point['recipe']}: {point['cpu_seconds']:,.0f} CPU seconds, "
        f"{point['updates']:,} updates: FID {point['fid']:.1f}, "
        f"KID {point['kid']:.4f} (n={point['n']:,})"
    )


def _measure(leg: Leg, n: int, inception: str) -> Point:
    """Trains a run up to an update and measures it; or reads what it was."""
    updates = leg.config.updates
    path = leg.directory / f"quality_{updates}_{n}.json"
    found = json_file.read(path, dict, remedy="delete it")
    if found is None:
        seconds = leg.directory / "cpu_seconds.json"
        with _timed(seconds):
            if train.train(leg.config, leg.directory) is not None:
                raise UserError("interrupted; the same command resumes it")
        records = evaluate.evaluate_run(
            Run(leg.directory), n=n, metrics=("fid", "kid"), inception=inception
        )
        found = {
            "recipe": leg.recipe,
            "updates": updates,
            "cpu_seconds": _seconds(seconds),
            "n": n,
            # A network other than Inception has names of its own for them.
            **{
                name: record["value"]
                for name, record in zip(
                    ("fid", "kid"), records.values(), strict=True
                )
            },
        }
        atomic.write_json(path, found)
    return found


@contextlib.contextmanager
def _timed(path: pathlib.Path, every: float = 10.0) -> Iterator[None]:
    """Adds the CPU seconds of a block to a file, also if it is killed.

    What a killed run has to repeat is counted twice.
    """
    before, begin = _seconds(path), time.process_time()
    done = threading.Event()

    def note() -> None:
        if path.parent.is_dir():  # training makes it
            value = before + time.process_time() - begin
            atomic.write_json(path, {"cpu_seconds": value})

    def keep_noting() -> None:
        while not done.wait(every):
            note()

    thread = threading.Thread(target=keep_noting, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        note()


def _seconds(path: pathlib.Path) -> float:
    found = json_file.read(path, {"cpu_seconds": float}, remedy="delete it")
    return found["cpu_seconds"] if found else 0.0


def _draw(path: pathlib.Path, points: list[Point]) -> None:
    figure = Figure((10, 4), layout="constrained")
    for i, metric in enumerate(("fid", "kid")):
        axes = figure.add_subplot(1, 2, i + 1)
        for recipe, style in (("paper", "o-"), ("pyramid", "s-")):
            own = [p for p in points if p["recipe"] == recipe]
            axes.plot(
                [p["cpu_seconds"] for p in own],
                [p[metric] for p in own],
                style,
                label=recipe,
            )
        axes.set_xscale("log")
        axes.set_xlabel("CPU seconds of training")
        axes.set_ylabel(f"{metric.upper()}, n={points[0]['n']:,}")
        axes.legend()
    with atomic.writer(path) as file:
        figure.savefig(file, dpi=100, format="png")

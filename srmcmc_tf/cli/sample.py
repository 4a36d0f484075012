"""bin/sample: seeds to pictures and arrays."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import directory, integers, labels, switch
from srmcmc_tf.config.config import FIELDS
from srmcmc_tf.errors import UserError
from srmcmc_tf.generation import SEEDS
from srmcmc_tf.runs.preset import DEFAULT

if TYPE_CHECKING:  # TensorFlow takes seconds to import, and --help needs none
    from srmcmc_tf.generation.chain_cost import Cost
    from srmcmc_tf.generation.informed import Informed
    from srmcmc_tf.generation.nearest import Nearest

_STEPS = integers(high=FIELDS["K"].metadata["high"])
COMMAND = flags.Command(
    "sample",
    "Draws samples of a run, or of a trained model of the package: without\n"
    f"arguments of the preset {DEFAULT}. The same seed gives the same sample.",
    (
        flags.WORKDIR,
        flags.MODEL_FILE,
        flags.PRESET,
        flags.BEST,
        Flag(
            "seeds",
            f"{SEEDS[0]}-{SEEDS[-1]}",
            "of the samples: 5, 0-63, 1,2,7-9",
            integers(),
        ),
        Flag(
            "K",
            None,
            "steps; several, as 0,20,...,200, make a table",
            _STEPS,
            placeholder="(the run's)",
        ),
        Flag(
            "images",
            None,
            "a folder to start from, for a run with --start=data, degraded or "
            "dataset",
            directory,
            placeholder="(the run's)",
        ),
        Flag(
            "labels",
            None,
            "classes of a run with --conditional, each with all seeds: 3, 0-9, "
            "or names as cat,dog",
            labels,
            placeholder="(seed mod n)",
        ),
        Flag("deterministic", "false", "no noise in the chain", switch),
        Flag(
            "trace",
            "false",
            "also draw the chains at steps 0, 10, ..., K",
            switch,
        ),
        Flag("singles", "false", "also write a PNG per sample", switch),
        Flag(
            "nearest",
            "false",
            "also find the nearest training images of samples",
            switch,
        ),
        flags.OUT,
    ),
)


def main() -> None:
    app.run("sample", sample)


def sample(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    if not {"workdir", "model_file", "preset"} & args.given.keys():
        args.preset = DEFAULT
    source = flags.open_source(args)
    steps = args.K or [None]
    for name in {"trace", "singles", "nearest"} & args.given.keys():
        flags.require_images(source, f"--{name}")
        if len(steps) > 1:
            raise UserError(f"--{name}: only for a single --K")
    app.import_tensorflow()
    from srmcmc_tf.generation import sample

    n = len(args.seeds) * len(args.labels or [0])
    shared = dict(
        seeds=args.seeds,
        out=args.out,
        best=args.best,
        deterministic=args.deterministic,
        images=args.images,
        labels=args.labels,
    )
    if len(steps) > 1:
        table = sample.table(source, K=steps, **shared)
        print("| K | pixels beyond the range |\n|---|---|")
        for K, share in table.outside.items():
            print(f"| {K} | {share:.2%} |")
        print(f"{table.picture}, {table.seeds} of {n} seeds")
        return 0
    also = dict(trace=args.trace, singles=args.singles, nearest=args.nearest)
    found = sample.sample(source, K=steps[0], **also, **shared)
    print(f"{n:,} samples: {found.file}, {found.picture}")
    if found.cost:
        print(f"{_describe(found.cost)} per sample")
    if found.informed:
        for line in _compare(found.informed):
            print(line)
    if found.trace:
        names = ", ".join(map(str, found.steps))
        print(f"steps {names}: {found.trace[0]}, {found.trace[1].suffix}")
    if found.singles:
        print(f"one PNG per sample: {found.file.parent}/seed_*.png")
    if found.nearest:
        print(_describe_nearest(found.nearest))
    return 0


def _describe_nearest(found: "Nearest") -> str:
    n, n_left_out, n_observed = found.n
    text = (
        f"nearest of {n_observed:,} training images: {found.picture}, at a "
        f"median distance of {found.samples:.3f} (root mean square in [-1, 1])"
    )
    if found.left_out is not None:
        text += f"; of {n_left_out:,} left-out images {found.left_out:.3f}"
    return text


def _describe(cost: "Cost") -> str:
    steps = f"{cost.steps:,.0f} steps"
    if cost.spread:
        steps = f"{cost.steps:,.1f} +- {cost.spread:,.1f} steps"
    return f"{steps}, {cost.evaluations:,.0f} gradient evaluations"


def _compare(found: "Informed") -> Iterator[str]:
    if found.record:
        yield f"unknown part of {found.record['n_images']} images, in [-1, 1]:"
        for name, error in found.record["methods"].items():
            yield (
                f"  {name:<12} MSE {error['mse']:.4f} (+- "
                f"{error['mse_standard_error']:.4f}), {error['psnr']:.1f} dB"
            )
    yield str(found.picture)

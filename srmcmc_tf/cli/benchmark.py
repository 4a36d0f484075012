"""bin/benchmark: what an update costs, as ratios of interleaved runs.

Each ratio is the median over rounds in which both sides take turns, because
machines are noisy and a ratio of neighbors is less so.
"""

import importlib
import pathlib
from typing import Any

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import integer
from srmcmc_tf.errors import UserError

# For each benchmark its module in srmcmc_tf/benchmarks/, and its help. They
# are imported when they are run: TensorFlow takes seconds.
_BENCHMARKS = {
    "fit": ("speed", "fit and its input pipeline against the bare update"),
    "rate": ("speed", "the chain's arithmetic against a matrix product"),
    "torch": ("speed", "a step of the chain against PyTorch's, eager"),
    "scaling": ("speed", "time against K and the batch: should be linear"),
    "memory": ("memory", "peak of an update against K: should be flat"),
    "cost": ("cost", "an update by the formulas of docs/scaling.md"),
    "workers": ("workers", "two workers over loopback against one process"),
    "gradient": ("memory", "reconstruction's gradient against a naive tape"),
    "inception": ("metrics", "FID and KID against the plain Inception"),
    "quality": (
        "quality",
        "FID and KID of both recipes on CIFAR-10: hours, only if named",
    ),
}
_HOURS = ("quality",)
COMMAND = flags.Command(
    "benchmark",
    f"bin/benchmark [NAME ...] [flags]\n\n{__doc__}\n"
    + "\n".join(f"  {n:<9} {text}" for n, (_, text) in _BENCHMARKS.items()),
    (
        flags.INCEPTION,
        Flag("workdir", "runs/quality", "of quality: where its runs go"),
        Flag(
            "minutes",
            "360",
            "of quality: CPU minutes of each recipe",
            integer(1, 10**6),
        ),
        Flag(
            "n",
            "1000",
            "of quality: samples of an evaluation",
            integer(2, 10**9),
        ),
    ),
    operands=tuple(_BENCHMARKS),
)


def main() -> None:
    app.run("benchmark", benchmark)


def benchmark(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    app.import_tensorflow()
    named = {"workdir", "minutes", "n"} & args.given.keys()
    if named and "quality" not in args.operands:
        raise UserError(f"--{min(named)} is for bin/benchmark quality")
    for name in args.operands or [n for n in _BENCHMARKS if n not in _HOURS]:
        module_name, text = _BENCHMARKS[name]
        print(f"\n## {name}: {text}")
        module = importlib.import_module(f"srmcmc_tf.benchmarks.{module_name}")
        options: tuple[Any, ...] = ()
        if name == "inception":
            options = (args.inception,)
        elif name == "quality":
            path = pathlib.Path(args.workdir)
            options = (path, args.minutes, args.n, args.inception)
        for line in getattr(module, name)(*options):
            print(line, flush=True)
    return 0

"""bin/benchmark: what an update costs, as ratios of interleaved runs.

Each ratio is the median over rounds in which both sides take turns, because
machines are noisy and a ratio of neighbors is less so.
"""

import importlib

from srmcmc_tf.cli import app, flags

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
}
COMMAND = flags.Command(
    "benchmark",
    f"bin/benchmark [NAME ...] [flags]\n\n{__doc__}\n"
    + "\n".join(f"  {n:<9} {text}" for n, (_, text) in _BENCHMARKS.items()),
    (flags.INCEPTION,),
    operands=tuple(_BENCHMARKS),
)


def main() -> None:
    app.run("benchmark", benchmark)


def benchmark(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    app.import_tensorflow()
    for name in args.operands or _BENCHMARKS:
        module_name, text = _BENCHMARKS[name]
        print(f"\n## {name}: {text}")
        module = importlib.import_module(f"srmcmc_tf.benchmarks.{module_name}")
        options = (args.inception,) if name == "inception" else ()
        for line in getattr(module, name)(*options):
            print(line, flush=True)
    return 0

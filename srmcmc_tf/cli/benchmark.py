"""bin/benchmark: what an update costs, as ratios of interleaved runs.

Each ratio is the median over rounds in which both sides take turns, because
machines are noisy and a ratio of neighbours is less so.
"""

import importlib

from srmcmc_tf.cli import app, flags
from srmcmc_tf.errors import UserError

# A function of srmcmc_tf/benchmarks/MODULE.py each.
_SECTIONS = {
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


def main():
    app.run("benchmark", benchmark)


def benchmark(argv):
    asked, argv = flags.wants_help(argv)
    if asked:
        print(f"bin/benchmark [NAME ...] [--inception=PATH]\n\n{__doc__}")
        for name, (_, text) in _SECTIONS.items():
            print(f"  {name:<9} {text}")
        return 0
    given = [arg for arg in argv if arg.startswith("-")]
    weights = flags.parse("benchmark", given, {"inception": str})
    names = [arg for arg in argv if arg not in given] or _SECTIONS
    for name in names:
        if name not in _SECTIONS:
            raise UserError(f"{name!r}: must be one of {', '.join(_SECTIONS)}")
    app.import_tensorflow()
    for name in names:
        module, text = _SECTIONS[name]
        print(f"\n## {name}: {text}")
        module = importlib.import_module(f"srmcmc_tf.benchmarks.{module}")
        options = weights.values() if name == "inception" else ()
        getattr(module, name)(*options)
    return 0

"""bin/evaluate: a run, or two sets of images, to values and a file of them."""

import pathlib

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import choices, integer
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import METRICS, N_SAMPLES, SET_METRICS
from srmcmc_tf.runs.run import EVALUATION, Run

COMMAND = flags.Command(
    "evaluate",
    "Measures samples: FID, KID, inception score, reconstruction.",
    (
        Flag(
            "workdir",
            None,
            "a run of bin/train: its samples, against its examples",
            placeholder="RUN",
        ),
        flags.BEST,
        Flag(
            "real",
            None,
            "or any images: a folder, an npz, an npz of mu and sigma",
            placeholder="SET",
        ),
        Flag(
            "fake",
            None,
            "against these: a folder or an npz",
            placeholder="SET",
        ),
        Flag(
            "n",
            str(N_SAMPLES),
            "samples of a run, or images of --fake (by default all)",
            integer(2, 10**9),
        ),
        Flag(
            "metrics",
            ",".join(METRICS),
            "which; mse is of a run's left-out examples",
            choices(*METRICS),
        ),
        flags.INCEPTION,
        flags.OUT._replace(help="where evaluation.json goes; else here"),
    ),
)


def main() -> None:
    app.run("evaluate", evaluate)


def evaluate(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    run = _run(args)
    app.import_tensorflow()
    import tensorflow as tf

    tf.config.experimental.enable_op_determinism()
    from srmcmc_tf.evaluation import evaluate, measure

    if run:
        out = pathlib.Path(args.out or run.generated_directory)
        records = evaluate.evaluate_run(
            run,
            best=args.best,
            out=out,
            n=args.n,
            metrics=args.metrics,
            inception=args.inception,
        )
    else:
        out = pathlib.Path(args.out or ".")
        records = evaluate.evaluate_sets(
            args.real,
            args.fake,
            out=out,
            n=args.given.get("n"),
            metrics=args.given.get("metrics", SET_METRICS),
            inception=args.inception,
        )
    for name, record in records.items():
        print(measure.describe(name, record))
    print(out / EVALUATION)
    if all(record["value"] is None for record in records.values()):
        raise UserError("nothing could be measured")
    return 0


def _run(args: flags.Arguments) -> Run | None:
    """The run to measure; None for two sets of images."""
    sets = {"real", "fake"} & args.given.keys()
    if bool(args.workdir) == bool(sets) or len(sets) == 1:
        raise UserError("needs --workdir=RUN, or --real=SET and --fake=SET")
    if sets and "mse" in args.given.get("metrics", ()):
        raise UserError("--metrics=mse needs --workdir: a model reconstructs")
    return None if sets else Run(args.workdir).require()

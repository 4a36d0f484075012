"""bin/evaluate: a model, or two sets of images, to a file of values."""

import pathlib
from typing import Any

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import choices, integer
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import (
    METRICS,
    N_SAMPLES,
    RUN_METRICS,
    SET_METRICS,
)
from srmcmc_tf.files import paths
from srmcmc_tf.runs.run import EVALUATION, Run
from srmcmc_tf.runs.source import Source

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
        flags.MODEL_FILE._replace(help="or a saved model, against --real"),
        flags.PRESET,
        Flag(
            "fake",
            None,
            "or any images, against --real: a folder or an npz",
            placeholder="SET",
        ),
        Flag(
            "real",
            None,
            "what to compare with (a run: instead of its examples): a folder, "
            "an npz, an npz of mu and sigma",
            placeholder="SET",
        ),
        Flag(
            "n",
            str(N_SAMPLES),
            "samples of a model, or images of --fake (by default all)",
            integer(2, 10**9),
        ),
        Flag(
            "metrics",
            ",".join(METRICS),
            "which; mse is of a run's left-out examples, and so is accuracy, "
            "of a run with --conditional",
            choices(*RUN_METRICS),
        ),
        flags.INCEPTION,
        flags.OUT._replace(help="where evaluation.json goes; else here"),
    ),
)


def main() -> None:
    app.run("evaluate", evaluate)


def evaluate(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    source = _source(args)
    for path in filter(None, (args.real, args.fake)):
        paths.existing(path)  # before TensorFlow, and a classifier to train
    app.import_tensorflow()
    import tensorflow as tf

    tf.config.experimental.enable_op_determinism()
    from srmcmc_tf.evaluation import evaluate, measure

    default = source.generated_directory if source else "."
    out = pathlib.Path(args.out or default)
    options: dict[str, Any] = dict(out=out, inception=args.inception)
    if isinstance(source, Run):
        if source.config.conditional == "on" and "metrics" not in args.given:
            args.metrics = RUN_METRICS
        records = evaluate.evaluate_run(
            source,
            best=args.best,
            n=args.n,
            metrics=args.metrics,
            real=args.real or "",
            **options,
        )
    else:
        records = evaluate.evaluate_sets(
            args.real,
            source.load_model() if source else args.fake,
            n=args.n if source else args.given.get("n"),
            metrics=args.given.get("metrics", SET_METRICS),
            **options,
        )
    for name, record in records.items():
        print(measure.describe(name, record))
    print(out / EVALUATION)
    if all(record["value"] is None for record in records.values()):
        raise UserError("nothing could be measured")
    return 0


def _source(args: flags.Arguments) -> Source | None:
    """What to measure: a run or a model file; None for two sets of images."""
    given = {"workdir", "preset", "model_file", "fake"} & args.given.keys()
    has_data = bool({"workdir", "preset"} & given)
    if len(given) != 1 or not (has_data or args.real):
        raise UserError(
            "needs --workdir=RUN, --preset=NAME, --model_file=MODEL.keras and "
            "--real=SET, or --fake=SET and --real=SET"
        )
    for name in set(RUN_METRICS) - set(SET_METRICS):
        if not has_data and name in args.given.get("metrics", ()):
            raise UserError(
                f"--metrics={name} needs --workdir: its left-out examples"
            )
    return None if args.fake else flags.open_source(args)

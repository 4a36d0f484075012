"""bin/evaluate: a run, or two sets of images, to values and a file of them."""

import pathlib

from srmcmc_tf.cli import app, flags
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.run import Run

METRICS = ("fid", "kid", "is", "mse")
_HELP = [
    ("workdir", "RUN", "a run of bin/train: its samples, against its examples"),
    flags.BEST,
    ("real", "SET", "or any images: a folder, an npz, an npz of mu and sigma"),
    ("fake", "SET", "against these: a folder or an npz"),
    ("n", "40000", "samples of a run, or images of --fake, at the most"),
    ("metrics", "fid,kid,is,mse", "which; mse is of a run's left-out examples"),
    (
        "inception",
        "(download)",
        "the network's weights: classify_image_graph_def.pb, its archive, or "
        "an npz",
    ),
    ("out", "RUN/generated", "where evaluation.json goes; else here"),
]


def main():
    app.run("evaluate", evaluate)


def evaluate(argv):
    asked, argv = flags.wants_help(argv)
    if asked:
        text = "Measures samples: FID, KID, inception score, reconstruction."
        print("\n".join([text, "", *(flags.line(*row) for row in _HELP)]))
        return 0
    given = _parse(argv)
    app.import_tensorflow()
    import tensorflow as tf

    tf.config.experimental.enable_op_determinism()
    from srmcmc_tf.evaluation import evaluate

    chosen = given.get(
        "metrics", METRICS if "workdir" in given else METRICS[:3]
    )
    options = dict(chosen=chosen, path=given.get("inception", ""))
    if "workdir" in given:
        run = Run(given["workdir"])
        model = run.load_model(best=given.get("best", False))
        config = run.config
        out = flags.output(given)
        options["n"] = given.get("n", 40_000)
        records = evaluate.of_run(model, config, out=out, **options)
    else:
        out = pathlib.Path(given.get("out", "."))
        options["n"] = given.get("n")
        sets = given["real"], given["fake"]
        records = evaluate.of_sets(*sets, out=out, **options)
    return _report(records, out)


def _parse(argv):
    parsers = {row[0]: str for row in _HELP}
    parsers["n"] = flags.integer("n", 2, 10**9)
    parsers["metrics"] = _metrics
    parsers["best"] = bool
    given = flags.parse("evaluate", argv, parsers)
    sets = {"real", "fake"} & given.keys()
    if ("workdir" in given) == bool(sets) or len(sets) == 1:
        raise UserError("needs --workdir=RUN, or --real=SET and --fake=SET")
    if sets and "mse" in given.get("metrics", ()):
        raise UserError("--metrics=mse needs --workdir: a model reconstructs")
    if not sets:
        Run(given["workdir"]).config  # before the seconds TensorFlow takes
    return given


def _metrics(text):
    names = text.split(",")
    for name in names:
        flags.choice("metrics", METRICS, name)
    return names


def _report(found, out):
    from srmcmc_tf.evaluation import measure

    for name, record in found.items():
        print(measure.tell(name, record))
    print(out / "evaluation.json")
    if all(record["value"] is None for record in found.values()):
        raise UserError("nothing could be measured")
    return 0

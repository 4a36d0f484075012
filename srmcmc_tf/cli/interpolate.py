"""bin/interpolate: from the sample of one seed to that of another."""

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import integer, labels
from srmcmc_tf.generation import COLUMNS, PAIRS

COMMAND = flags.Command(
    "interpolate",
    "Interpolates between the starts of two samples, without noise.",
    (
        flags.WORKDIR,
        flags.MODEL_FILE,
        flags.PRESET,
        flags.BEST,
        Flag(
            "pairs",
            str(PAIRS),
            "rows: from seed 2i to seed 2i + 1",
            integer(1, 1000),
        ),
        Flag(
            "columns",
            str(COLUMNS),
            "pictures per row, both ends included",
            integer(2, 1000),
        ),
        Flag(
            "labels",
            None,
            "of a run with --conditional: the classes of the rows",
            labels,
            placeholder="0,1,...",
        ),
        flags.OUT,
    ),
)


def main() -> None:
    app.run("interpolate", interpolate)


def interpolate(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    source = flags.open_source(args)
    flags.require_images(source, "bin/interpolate")
    app.import_tensorflow()
    from srmcmc_tf.generation import interpolate

    found = interpolate.interpolate(
        source,
        pairs=args.pairs,
        columns=args.columns,
        out=args.out,
        best=args.best,
        labels=args.labels,
    )
    print(
        "largest jump between neighbors over the distance of the ends: "
        f"{found.smoothness.mean():.2f} on average, "
        f"{found.smoothness.max():.2f} at most "
        f"({found.straight:.2f} would be a straight line)"
    )
    print(found.picture)
    return 0

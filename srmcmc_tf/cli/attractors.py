"""bin/attractors: where chains without noise come to rest."""

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import directory, integer
from srmcmc_tf.generation import ATTRACTORS

COMMAND = flags.Command(
    "attractors",
    "Runs chains without noise to rest: fixed points, basins, and recall of\n"
    "corrupted images, as in a Hopfield network.",
    (
        flags.WORKDIR,
        flags.MODEL_FILE,
        flags.PRESET,
        flags.BEST,
        Flag(
            "n",
            str(ATTRACTORS),
            "starts from noise, and images at most",
            integer(2, 10**6),
        ),
        Flag(
            "images",
            None,
            "a folder of images to recall; else those learned from",
            directory,
            placeholder="(observed)",
        ),
        Flag("steps", "2000", "most steps of a chain", integer(1, 10**6)),
        flags.OUT,
    ),
)


def main() -> None:
    app.run("attractors", attractors)


def attractors(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    source = flags.open_source(args)
    flags.require_images(source, "bin/attractors")
    app.import_tensorflow()
    from srmcmc_tf.generation import attractors

    found = attractors.find(
        source,
        n=args.n,
        images=args.images,
        steps=args.steps,
        out=args.out,
        best=args.best,
    )
    record = found.record
    basins = ", ".join(map(str, record["basins"][:5]))
    print(
        f"{record['starts']:,} starts from noise: {record['at_rest']:.1%} at "
        f"rest after {record['steps']:.0f} steps on average, "
        f"{record['fixed_points']:,} fixed points; largest basins {basins}"
    )
    print(
        f"{record['images']:,} images: at rest at "
        f"{record['fixed_points_of_images']:,} fixed points"
    )
    for kind, recall in record["recall"].items():
        print(
            f"{kind}: {recall['same']:.1%} come to rest where the intact "
            f"image does; MSE {recall['mse_before']:.3f} before, "
            f"{recall['mse_after']:.3f} after "
            f"({recall['mse_of_intact']:.3f} from the intact image)"
        )
    print(f"{found.picture}, {found.json.suffix}, {found.file.suffix}")
    return 0

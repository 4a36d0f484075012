"""bin/interpolate: from one seed's sample to another's."""

from srmcmc_tf.cli import app, flags
from srmcmc_tf.runs.run import Run

_HELP = [
    ("pairs", "8", "rows: from seed 2i to seed 2i + 1"),
    ("columns", "9", "pictures a row, both ends included"),
]


def main():
    app.run("interpolate", interpolate)


def interpolate(argv):
    text = "Interpolates between the starts of two samples, without noise."
    parsers = {
        "pairs": flags.integer("pairs", 1, 1000),
        "columns": flags.integer("columns", 2, 1000),
    }
    given = flags.of_run("interpolate", argv, text, _HELP, parsers)
    if given is None:
        return 0
    flags.need_images(given, "bin/interpolate")
    pairs, columns = given.get("pairs", 8), given.get("columns", 9)
    app.import_tensorflow()
    import numpy as np

    from srmcmc_tf import plots

    run = Run(given["workdir"])
    model = run.load_model(best=given.get("best", False))
    out = flags.output(given)
    seeds = np.arange(2 * pairs).reshape(pairs, 2)
    z1, z2 = model.start(seeds[:, 0]), model.start(seeds[:, 1])
    # Equal angles, so that equal steps of z: rho = cos, sqrt(1 - rho^2) = sin.
    rho = np.cos(np.linspace(0, np.pi / 2, columns))
    rho[-1] = 0.0
    x = np.stack(
        [
            model.interpolate(a[None], b[None], rho)[0].numpy()
            for a, b in zip(z1, z2, strict=True)
        ]
    )
    jumps = np.linalg.norm(
        np.diff(x, axis=1).reshape(pairs, columns - 1, -1), axis=2
    )
    ends = np.linalg.norm((x[:, -1] - x[:, 0]).reshape(pairs, -1), axis=1)
    smoothness = jumps.max(axis=1) / ends
    np.savez(
        out / "interpolation.npz",
        x=x,
        rho=rho,
        seeds=seeds,
        smoothness=smoothness,
    )
    plots.save_grid(
        out / "interpolation.png", x.reshape(-1, *x.shape[2:]), columns, 1024
    )
    print(
        "largest jump between neighbours over the distance of the ends: "
        f"{smoothness.mean():.2f} on average, {smoothness.max():.2f} at the "
        f"most ({1 / (columns - 1):.2f} would be a straight line)"
    )
    print(out / "interpolation.png")
    return 0

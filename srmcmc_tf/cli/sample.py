"""bin/sample: seeds to pictures and arrays."""

from srmcmc_tf.cli import app, flags
from srmcmc_tf.config import config
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.run import Run

_HELP = [
    ("seeds", "0-63", "the samples' names: 5, 0-63, 1,2,7-9"),
    ("K", "(the run's)", "steps; several, as 0,20,...,200, make a table"),
    ("deterministic", "false", "no noise in the chain"),
    ("trace", "false", "also draw the chains at steps 0, 10, ..., K"),
    ("singles", "false", "also write each sample as a PNG of its own"),
]


def main():
    app.run("sample", sample)


def sample(argv):
    text = "Draws samples of a run. The same seed is the same sample."
    parsers = {
        "seeds": flags.integers("seeds"),
        "K": flags.integers("K", high=config.FIELDS["K"].metadata["high"]),
        "deterministic": bool,
        "trace": bool,
        "singles": bool,
    }
    given = flags.of_run("sample", argv, text, _HELP, parsers)
    if given is None:
        return 0
    for name in {"trace", "singles"} & given.keys():
        flags.need_images(given, f"--{name}")
    app.import_tensorflow()

    run = Run(given["workdir"])
    model = run.load_model(best=given.get("best", False))
    settings = run.config
    out = flags.output(given)
    seeds = given.get("seeds", list(range(64)))
    chain = {}  # a baseline has none
    if settings.model == "ebm":
        noise = 0.0 if given.get("deterministic") else model.noise
        steps = given.get("K", [model.K])
        if len(steps) > 1:
            for name in {"trace", "singles"} & given.keys():
                raise UserError(f"--{name}: only for a single --K")
            _table(model, seeds, steps, noise, out)
            return 0
        chain = {"K": steps[0], "noise": noise}
    _write(model, seeds, chain, out)
    if given.get("trace"):
        _trace(model, seeds, **chain, out=out)
    if given.get("singles"):
        _singles(seeds, out)
    return 0


def _write(model, seeds, chain, out):
    import numpy as np

    from srmcmc_tf.evaluation import image_sets
    from srmcmc_tf.generation import sample_file

    def draw(some):
        # Always whole batches: a short one would be traced again.
        padded = some + [0] * (min(64, len(seeds)) - len(some))
        x = model.sample(padded, **chain)[: len(some)]
        return x.numpy(), model.start(some).numpy()

    shape, z_shape = model.image_shape, model.start([0]).shape[1:]
    request = {**chain, "weights": image_sets.digest(model), "shape": shape}
    path = out / "samples.npz"
    sample_file.write(path, draw, seeds, shape, request, z_shape=z_shape)
    with np.load(path) as arrays:
        picture = _show(arrays["x"], out)
    print(f"{len(seeds):,} samples: {path}, {picture}")


def _show(x, out):
    """Some of the images in a grid, or all points; where that is."""
    from srmcmc_tf import plots

    if x.ndim == 2:
        picture = plots.points(x[None], [f"{len(x):,} samples"])
        plots.save(out / "points.png", picture)
        return out / "points.png"
    plots.save_grid(out / "grid.png", x[:256])
    return out / "grid.png"


def _trace(model, seeds, K, noise, out):
    from srmcmc_tf import plots

    steps = sorted({*range(0, K, 10 if K >= 20 else 1), K})
    x = model.trace(seeds[:8], steps, noise=noise).numpy()
    strip = x.reshape(-1, *x.shape[2:])
    plots.save_grid(out / "trace.png", strip, columns=len(steps), width=1024)
    frames = model.trace(seeds[:64], steps, noise=noise).numpy()
    plots.save_animation(out / "trace.gif", frames.swapaxes(0, 1))
    print(f"steps {', '.join(map(str, steps))}: {out / 'trace.png'}, .gif")


def _singles(seeds, out):
    import numpy as np

    from srmcmc_tf import plots

    with np.load(out / "samples.npz") as arrays:
        for seed, x in zip(seeds, arrays["x"], strict=True):
            plots.save_grid(out / f"seed_{seed:06d}.png", x[None], width=1)
    print(f"one PNG a sample: {out}/seed_*.png")


def _table(model, seeds, steps, noise, out):
    """One row a seed, one column a number of steps, saturation below."""
    import numpy as np

    from srmcmc_tf import plots

    if steps != sorted(set(steps)):
        raise UserError(f"--K={steps}: must increase")
    points = len(model.image_shape) == 1
    rows = seeds if points else seeds[:16]
    x = model.trace(rows, steps, noise=noise).numpy()
    outside = (np.abs(x) > 1).mean(axis=(0, *range(2, x.ndim)))
    labels = [f"K={K}\n{s:.1%}" for K, s in zip(steps, outside, strict=True)]
    if points:
        plots.save(out / "K.png", plots.points(x.swapaxes(0, 1), labels))
    else:
        plots.save_table(out / "K.png", x, labels)
    print("| K | pixels beyond the range |\n|---|---|")
    for K, share in zip(steps, outside, strict=True):
        print(f"| {K} | {share:.2%} |")
    print(f"{out / 'K.png'}, {len(rows)} of {len(seeds)} seeds")

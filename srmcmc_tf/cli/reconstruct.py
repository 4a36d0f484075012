"""bin/reconstruct: the z whose samples are given images."""

from srmcmc_tf import generation as defaults
from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import choice, directory, integer
from srmcmc_tf.errors import UserError

_MASK = "inpaint: center, left, or a PNG that is white where pixels are known"
_TASK = "whole, inpaint or upscale: what is known of an image"
_FACTOR = "upscale: how many times smaller the known image is"
_STEPS = "steps of the descent"
_RULE = "descent, as in the paper, or adam"
_MANY = integer(1, 10**6)
COMMAND = flags.Command(
    "reconstruct",
    "Reconstructs images by descent on z through the chain.",
    (
        flags.WORKDIR,
        flags.MODEL_FILE,
        flags.PRESET,
        flags.BEST,
        Flag(
            "images",
            None,
            "a folder of images; else the left-out examples",
            directory,
            placeholder="(left out)",
        ),
        Flag("n", str(defaults.IMAGES), "images at most", _MANY),
        Flag("iterations", str(defaults.ITERATIONS), _STEPS, _MANY),
        Flag("rule", defaults.RULES[0], _RULE, choice(*defaults.RULES)),
        Flag("task", defaults.TASKS[0], _TASK, choice(*defaults.TASKS)),
        Flag("mask", defaults.MASK, _MASK),
        Flag("factor", str(defaults.FACTOR), _FACTOR, integer(2, 64)),
        flags.OUT,
    ),
)


def main() -> None:
    app.run("reconstruct", reconstruct)


def reconstruct(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    source = flags.open_source(args)
    flags.require_images(source, "bin/reconstruct")
    for name, task in (("mask", "inpaint"), ("factor", "upscale")):
        if name in args.given and args.task != task:
            raise UserError(f"--{name}: only for --task={task}")
    app.import_tensorflow()
    from srmcmc_tf.generation import reconstruct

    found = reconstruct.reconstruct(
        source,
        images=args.images,
        n=args.n,
        iterations=args.iterations,
        rule=args.rule,
        task=args.task,
        mask=args.mask,
        factor=args.factor,
        out=args.out,
        best=args.best,
    )
    record = found.record
    start = f"; {record['mse_at_start']:.4f} at the start"
    print(
        f"MSE per pixel and channel, images in [-1, 1]: {record['mse']:.4f} "
        f"(+- {record['mse_standard_error']:.4f}, n={record['n']}"
        f"{start if record['iterations'] else ''})"
    )
    if "mse_unknown" in record:
        print(
            f"unknown part: MSE {record['mse_unknown']:.4f}, "
            f"{record['psnr_unknown']:.1f} dB"
        )
    print(
        f"with untrained weights: {record['mse_untrained']:.4f} "
        f"(n={record['n_untrained']})"
    )
    print(f"{found.picture}, {found.json.suffix}, {found.file.suffix}")
    return 0

"""bin/reproduce: the paper's tables and figures, each as a command.

Trains what it needs, or resumes what is there, measures it, and compares it
with the paper's values in WORKDIR/report/index.html.
"""

import pathlib
import shlex

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import absolute_path, choice, directory, switch
from srmcmc_tf.errors import UserError
from srmcmc_tf.reproduce import cost, experiments, scales

_NAMES = (*experiments.plan("paper"), "all")
COMMAND = flags.Command(
    "reproduce",
    f"bin/reproduce NAME ... [flags]\n\n{__doc__}\nNAME: {', '.join(_NAMES)}",
    (
        Flag(
            "scale",
            "cpu",
            "paper, cpu (2 cores, 2 hours a table) or smoke",
            choice(*scales.SCALES),
        ),
        Flag(
            "workdir",
            None,
            "where runs/ and report/ go",
            placeholder="reproduced/SCALE",
        ),
        Flag(
            "data_dir",
            None,
            "holds celeb_a/, lsun_bedroom/, TFDS's datasets",
            directory,
        ),
        flags.INCEPTION,
        Flag("dry_run", "false", "only print the plan and its cost", switch),
    ),
    operands=_NAMES,
)


def main() -> None:
    app.run("reproduce", reproduce)


def reproduce(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    if not args.operands:
        raise UserError(f"specify what to reproduce: {', '.join(_NAMES)}")
    plan = experiments.plan(args.scale, absolute_path(args.data_dir or ""))
    names = list(plan) if "all" in args.operands else args.operands
    app.import_tensorflow()
    if args.dry_run:
        print(cost.describe(plan, names, args.scale))
        return 0
    from srmcmc_tf.reproduce import runner

    runner.reproduce(
        plan,
        names,
        scale=args.scale,
        directory=pathlib.Path(args.workdir or f"reproduced/{args.scale}"),
        inception=args.inception,
        command="bin/reproduce " + shlex.join(argv),
    )
    return 0

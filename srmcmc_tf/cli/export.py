"""bin/export: a run for other programs."""

import pathlib
import sys

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import choice
from srmcmc_tf.errors import UserError

COMMAND = flags.Command(
    "export",
    "Writes a run as a SavedModel to serve, or its weights as arrays.",
    (
        flags.WORKDIR,
        flags.BEST,
        Flag(
            "format",
            "saved_model",
            "saved_model: versions 1, 2, ... for TF Serving; npz: the weights, "
            "00/kernel (HWIO), 00/bias, ...",
            choice("saved_model", "npz"),
        ),
        Flag(
            "out",
            None,
            "the versions' directory; npz: RUN/weights.npz",
            placeholder="RUN/export",
        ),
    ),
)


def main() -> None:
    app.run("export", export)


def export(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    run = flags.open_run(args)
    if not run.config.kind.has_chain:
        raise UserError(f"{run} is a {run.config.model}: no energy to export")
    flags.require_images(run, "bin/export")
    app.import_tensorflow()
    from srmcmc_tf.files import npz
    from srmcmc_tf.models import energies
    from srmcmc_tf.serving import export, model_card

    # On one device: the graph that is served must not name those of this
    # machine.
    model = run.load_model(best=args.best, strategy="one")
    if args.format == "npz":
        out = pathlib.Path(args.out or run.weights_file)
        npz.save(out, energies.named_weights(model.energy))
        print(out)
        return 0
    facts = model_card.facts(run, model)
    version = export.write(args.out or run.export_directory, model, facts)
    if not export.can_warm_up():
        print(
            "no warm-up requests were written: they need "
            "pip install 'srmcmc_tf[serve]'",
            file=sys.stderr,
        )
    print(version)
    return 0

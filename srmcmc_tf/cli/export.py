"""bin/export: a run or a model file for other programs."""

import pathlib
import sys
from typing import Any

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import choice
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import preset
from srmcmc_tf.runs.run import Run

COMMAND = flags.Command(
    "export",
    "Writes a model as a SavedModel to serve, or its weights as arrays.",
    (
        flags.WORKDIR,
        flags.MODEL_FILE,
        flags.PRESET,
        flags.BEST,
        Flag(
            "format",
            "saved_model",
            "saved_model: versions 1, 2, ... for TF Serving; npz: the weights, "
            "00/kernel (HWIO), 00/bias, ...; preset: float16 weights and a "
            "model card, OUT.npz and OUT.json",
            choice("saved_model", "npz", "preset"),
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
    source = flags.open_source(args)
    if not source.kind.has_chain:
        raise UserError(
            f"{source} is a {source.kind.name}: no energy to export"
        )
    flags.require_images(source, "bin/export")
    app.import_tensorflow()
    from srmcmc_tf.files import npz
    from srmcmc_tf.serving import export, model_card

    # On one device: the graph that is served must not name those of this
    # machine.
    model = source.load_model(best=args.best, strategy="one")
    if args.format == "npz":
        out = pathlib.Path(args.out or source.weights_file)
        npz.save(out, _arrays(model))
        print(out)
        return 0
    facts = model_card.facts(source, model)
    if args.format == "preset":
        if not isinstance(source, Run) or not args.out:
            raise UserError(
                "--format=preset: needs --workdir=RUN and --out=PATH/NAME"
            )
        preset.write(pathlib.Path(args.out), model, facts)
        print(f"{args.out}.npz and .json")
        return 0
    version = export.write(args.out or source.export_directory, model, facts)
    if not export.can_warm_up():
        print(
            "no warm-up requests were written: they need "
            "pip install 'srmcmc_tf[serve]'",
            file=sys.stderr,
        )
    print(version)
    return 0


def _arrays(model: Any) -> dict[str, Any]:
    """The weights by name; those of several stages under stage_0/, ..."""
    from srmcmc_tf.models import energies

    if len(model.stages) == 1:
        return energies.named_weights(model.energy)
    return {
        f"stage_{i}/{name}": value
        for i, stage in enumerate(model.stages)
        for name, value in energies.named_weights(stage.energy).items()
    }

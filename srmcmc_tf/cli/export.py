"""bin/export: a run for other programs."""

import functools
import sys

from srmcmc_tf.cli import app, flags
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.run import Run

FORMATS = ("saved_model", "npz")
_HELP = [
    (
        "format",
        "saved_model",
        "saved_model: versions 1, 2, ... for TF Serving; npz: the weights, "
        "00/kernel (HWIO), 00/bias, ...",
    ),
    ("out", "RUN/export", "the versions' directory; npz: RUN/weights.npz"),
]


def main():
    app.run("export", export)


def export(argv):
    text = "Writes a run as a SavedModel to serve, or its weights as arrays."
    parsers = {"format": functools.partial(flags.choice, "format", FORMATS)}
    given = flags.of_run("export", argv, text, _HELP, parsers)
    if given is None:
        return 0
    model = Run(given["workdir"]).config.model
    if model != "ebm":
        raise UserError(f"{given['workdir']} is a {model}: no energy to export")
    flags.need_images(given, "bin/export")
    app.import_tensorflow()

    # On one device: the graph that is served must not name those of this
    # machine.
    run = Run(given["workdir"])
    model = run.load_model(best=given.get("best", False), strategy="one")
    config = run.config
    if given.get("format") == "npz":
        _weights(model, given)
    else:
        _saved_model(model, config, given)
    return 0


def _saved_model(model, config, given):
    from srmcmc_tf.serving import export, model_card

    facts = model_card.facts(given["workdir"], model, config)
    out = given.get("out") or f"{given['workdir']}/export"
    version = export.write(out, model, facts)
    if not export.can_warm_up():
        print(
            "no warm-up requests were written: they need "
            "pip install 'srmcmc_tf[serve]'",
            file=sys.stderr,
        )
    print(version)


def _weights(model, given):
    from srmcmc_tf.models import energies

    out = given.get("out") or f"{given['workdir']}/weights.npz"
    energies.save_weights(out, model.energy)
    print(out)

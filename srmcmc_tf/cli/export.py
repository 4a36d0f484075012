"""bin/export: the weights of a run for other programs."""

import functools

from srmcmc_tf import runs
from srmcmc_tf.cli import app, flags
from srmcmc_tf.errors import UserError

_HELP = [
    ("format", "npz", "arrays in layer order: 00/kernel (HWIO), 00/bias, ..."),
    ("out", "RUN/weights.npz", "the file to write"),
]


def main():
    app.run("export", export)


def export(argv):
    text = "Writes the weights of a run in a plain format."
    parsers = {"format": functools.partial(flags.choice, "format", ("npz",))}
    given = flags.of_run("export", argv, text, _HELP, parsers)
    if given is None:
        return 0
    model = runs.require(given["workdir"]).model
    if model != "ebm":
        raise UserError(f"{given['workdir']} is a {model}: no energy to export")
    app.import_tensorflow()
    from srmcmc_tf import energy, trained

    model, _ = trained.load(given["workdir"])
    out = given.get("out") or f"{given['workdir']}/weights.npz"
    energy.save_weights(out, model.energy)
    print(out)
    return 0

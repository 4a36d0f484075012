"""bin/export: the weights of a run for other programs."""

from srmcmc_tf.cli import app, flags
from srmcmc_tf.errors import UserError

_HELP = [
    ("workdir", "RUN", "a run of bin/train"),
    ("format", "npz", "arrays in layer order: 00/kernel (HWIO), 00/bias, ..."),
    ("out", "RUN/weights.npz", "the file to write"),
]


def main():
    app.run("export", export)


def export(argv):
    asked, argv = flags.wants_help(argv)
    if asked:
        print("Writes the weights of a run in a plain format.\n")
        print("\n".join(flags.line(*row) for row in _HELP))
        return 0
    parsers = {"workdir": str, "format": str, "out": str}
    given = flags.parse("export", argv, parsers)
    if "workdir" not in given:
        raise UserError("--workdir=RUN is needed: a run of bin/train")
    if given.get("format", "npz") != "npz":
        raise UserError(f"--format={given['format']}: must be npz")
    app.import_tensorflow()
    from srmcmc_tf import energy, trained

    model, _ = trained.load(given["workdir"])
    out = given.get("out") or f"{given['workdir']}/weights.npz"
    energy.save_weights(out, model.energy)
    print(out)
    return 0

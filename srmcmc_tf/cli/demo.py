"""bin/demo: a page to look at a model."""

import logging
import tempfile

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import integer
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.preset import DEFAULT
from srmcmc_tf.runs.source import Source

_HOST = "address to listen on: by default this machine only"
COMMAND = flags.Command(
    "demo",
    "Serves a page that samples, interpolates and reconstructs.",
    (
        Flag(
            "export",
            None,
            "what bin/export wrote, or one version in it",
            placeholder="DIR",
        ),
        flags.WORKDIR._replace(help="or a run, exported for this time only"),
        flags.MODEL_FILE._replace(help="or a saved model, likewise"),
        flags.PRESET._replace(
            help=f"or a trained model of the package, likewise; without any "
            f"of these it is {DEFAULT}"
        ),
        flags.BEST,
        Flag(
            "port", "8000", "of the page; 0 for any free one", integer(0, 65535)
        ),
        Flag("host", "127.0.0.1", _HOST),
    ),
)


def main() -> None:
    app.run("demo", demo)


def demo(argv: list[str]) -> int:
    args = flags.parse(COMMAND, argv)
    source = _source(args)
    app.import_tensorflow()
    try:
        from srmcmc_tf.serving import export, http_server, model_card, served
    except ImportError as error:
        raise UserError(f"{error}: pip install 'srmcmc_tf[serve]'") from None

    logging.getLogger("waitress").setLevel(logging.ERROR)
    if source:
        model = source.load_model(best=args.best, strategy="one")
        facts = model_card.facts(source, model)
        with tempfile.TemporaryDirectory() as directory:
            export.write(directory, model, facts)
            exported = served.load(directory)
    else:
        exported = served.load(args.export)
    server = http_server.create(exported, args.host, args.port)
    host = args.host.strip("[]")
    host = f"[{host}]" if ":" in host else host
    address = f"http://{host}:{server.effective_port}/"
    print(f"{address} (Ctrl-C stops it)", flush=True)
    server.run()
    return 0


def _source(args: flags.Arguments) -> Source | None:
    """The model to serve; None for an export."""
    given = {"export", "workdir", "model_file", "preset"} & args.given.keys()
    if len(given) > 1:
        raise UserError(
            "needs one of --export=DIR, --workdir=RUN, "
            "--model_file=MODEL.keras and --preset=NAME"
        )
    if not given:
        args.preset = DEFAULT
    if args.export and args.best:
        raise UserError("--best is for --workdir: an export is one model")
    return None if args.export else flags.open_source(args)

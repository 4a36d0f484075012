"""bin/demo: a page to look at an exported model."""

import logging

from srmcmc_tf.cli import app, flags
from srmcmc_tf.cli.flags import Flag
from srmcmc_tf.cli.parsers import integer
from srmcmc_tf.errors import UserError

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
            required=True,
        ),
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
    app.import_tensorflow()
    try:
        from srmcmc_tf.serving import demo
    except ImportError as error:
        raise UserError(f"{error}: pip install 'srmcmc_tf[serve]'") from None

    logging.getLogger("waitress").setLevel(logging.ERROR)
    server = demo.server(demo.load(args.export), args.host, args.port)
    address = f"http://{args.host}:{server.effective_port}/"
    print(f"{address} (Ctrl-C stops it)", flush=True)
    server.run()
    return 0

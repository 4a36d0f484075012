"""bin/demo: a page to look at an exported model."""

import logging

from srmcmc_tf.cli import app, flags
from srmcmc_tf.errors import UserError

_HELP = [
    ("export", "DIR", "what bin/export wrote, or one version in it"),
    ("port", "8000", "of the page; 0 for any that is free"),
    ("host", "127.0.0.1", "address to listen on: by default this machine only"),
]


def main():
    app.run("demo", demo)


def demo(argv):
    asked, argv = flags.wants_help(argv)
    if asked:
        text = "Serves a page that samples, interpolates and reconstructs."
        print("\n".join([text, "", *(flags.line(*row) for row in _HELP)]))
        return 0
    parsers = {"export": str, "port": flags.integer("port", 0, 65535)}
    given = flags.parse("demo", argv, {**parsers, "host": str})
    if "export" not in given:
        raise UserError("--export=DIR is needed: what bin/export wrote")
    app.import_tensorflow()
    try:
        from srmcmc_tf.serving import demo
    except ImportError as error:
        raise UserError(f"{error}: pip install 'srmcmc_tf[serve]'") from None

    logging.getLogger("waitress").setLevel(logging.ERROR)
    host, port = given.get("host", "127.0.0.1"), given.get("port", 8000)
    server = demo.server(demo.load(given["export"]), host, port)
    print(
        f"http://{host}:{server.effective_port}/ (Ctrl-C ends it)", flush=True
    )
    server.run()
    return 0

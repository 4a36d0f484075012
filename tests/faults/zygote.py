"""Runs commands of bin/ in forks of one process that has imported everything.

A real process per command, which can be killed like any other, without the
seconds that importing TensorFlow takes. TensorFlow starts no thread until it
computes, so the fork is safe; `bin/` itself is started where that is the point.

Reads a line of JSON per command, {"command", "args", "cwd", "output"}; answers
with the pid and, when the process has ended, with its wait status.
"""

import importlib
import json
import os
import signal
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# All that commands import: later changes of the code must not mix with it.
MODULES = (
    *(f"cli.{name}" for name in ("train", "sample", "interpolate", "export")),
    *(f"cli.{name}" for name in ("reconstruct", "evaluate", "demo")),
    "cli.attractors",
    "generation.attractors",
    "generation.sample",
    "generation.interpolate",
    "generation.reconstruct",
    "evaluation.evaluate",
    "evaluation.measure",
    "serving.export",
    "serving.model_card",
    "training.train",
    "reproduce.runner",
)


def child(request):
    """Runs the command of a request; never returns."""
    code = 255
    try:
        for number, name in ((1, "out"), (2, "err")):
            path = os.path.join(request["output"], name)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(path, flags), number)
        os.chdir(request["cwd"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for limit, value in request.get("limits", {}).items():
            import resource

            resource.setrlimit(getattr(resource, limit), (value, value))
        sys.argv = [request["command"], *request["args"]]
        module = f"srmcmc_tf.cli.{request['command']}"
        importlib.import_module(module).main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else bool(end.code)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code or 0)


def main():
    for name in MODULES:
        importlib.import_module(f"srmcmc_tf.{name}")
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    print("ready", file=answers)
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        pid = os.fork()
        if not pid:
            child(request)
        print(pid, file=answers)
        print(os.waitpid(pid, 0)[1], file=answers)


if __name__ == "__main__":
    main()

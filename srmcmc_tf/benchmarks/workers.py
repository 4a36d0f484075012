"""Two workers over loopback: what an update sends, and how long it takes."""

import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from srmcmc_tf.models import energies
from srmcmc_tf.runs.run import Run

_FLAGS = "--K=10 --n_f=64 --batch_size=16 --checkpoint_every=1000".split()


def workers(few: int = 10, many: int = 60) -> Iterator[str]:
    """Bytes of an update as the kernel counts them; time against one process.

    Args:
        few: updates of a short run, whose bytes are those of the start.
        many: updates of a longer run.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        start = _pair(folder / "few", few)
        sent = (_pair(folder / "many", many) - start) / (many - few)
        _run([{}], folder / "one", many)
        pair = seconds_per_update(Run(folder / "many"))
        one = seconds_per_update(Run(folder / "one"))
    P = energies.convnet(8, channels=1, n_f=64).count_params()
    # Each of the two sends half of 8 P.
    yield (
        f"digits, n_f=64: {P:,} weights; an update of two workers sends "
        f"{sent / 1e6:.2f} MB over loopback, by formula {8 * P / 1e6:.2f} MB"
    )
    yield (
        f"K=10, batch 16: {pair * 1e3:.0f} ms an update, of one process with "
        f"as many cores {one * 1e3:.0f} ms"
    )


def free_addresses(n: int) -> tuple[str, ...]:
    """Returns addresses of n free ports.

    All are held until the last is known, so that no two are the same.
    """
    sockets = [socket.create_server(("localhost", 0)) for _ in range(n)]
    addresses = [f"localhost:{s.getsockname()[1]}" for s in sockets]
    for each in sockets:
        each.close()
    return tuple(addresses)


def _pair(workdir: pathlib.Path, updates: int) -> int:
    """Trains with two workers; returns the bytes sent over loopback."""
    jobs = {"worker": free_addresses(2)}
    tasks = [{"type": "worker", "index": i} for i in range(2)]
    configs = [json.dumps({"cluster": jobs, "task": task}) for task in tasks]
    before = loopback_bytes()
    _run([{"TF_CONFIG": config} for config in configs], workdir, updates)
    return loopback_bytes() - before


def _run(
    environments: list[dict[str, str]], workdir: pathlib.Path, updates: int
) -> None:
    """Trains in one process for each environment."""
    code = "from srmcmc_tf.cli.train import main; main()"
    flags = [*_FLAGS, f"--updates={updates}", f"--workdir={workdir}"]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, *flags],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
        )
        for environment in environments
    ]
    if any([process.wait() for process in processes]):
        raise RuntimeError("a worker failed; its error is printed above")


def loopback_bytes() -> int:
    """Returns the bytes received by the loopback interface since boot."""
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[0])
    raise OSError("no loopback interface in /proc/net/dev")


def seconds_per_update(run: Run) -> float:
    """Returns the median of the logged updates."""
    return statistics.median(
        1 / logged["updates_per_second"] for logged in run.metrics()
    )

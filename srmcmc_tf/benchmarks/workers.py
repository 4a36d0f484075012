"""Two workers over loopback: what an update sends, and how long it takes."""

import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile

from srmcmc_tf.models import energies

_FLAGS = "--K=10 --n_f=64 --batch_size=16 --checkpoint_every=1000".split()


def workers(few=10, many=60):
    """Bytes of an update as the kernel counted them; time beside one's."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        start = _pair(folder / "few", few)
        sent = (_pair(folder / "many", many) - start) / (many - few)
        _run([{}], folder / "one", many)
        pair, one = _seconds(folder / "many"), _seconds(folder / "one")
    P = energies.convnet(8, channels=1, n_f=64).count_params()
    # Each of the two sends half of 8 P.
    print(
        f"digits, n_f=64: {P:,} weights; an update of two workers sends "
        f"{sent / 1e6:.2f} MB over loopback, by formula {8 * P / 1e6:.2f} MB\n"
        f"K=10, batch 16: {pair * 1e3:.0f} ms an update, of one process with "
        f"as many cores {one * 1e3:.0f} ms"
    )


def free_addresses(n):
    """Of n ports that nobody uses; all are held until the last is known."""
    sockets = [socket.create_server(("localhost", 0)) for _ in range(n)]
    addresses = [f"localhost:{s.getsockname()[1]}" for s in sockets]
    for each in sockets:
        each.close()
    return tuple(addresses)


def _pair(workdir, updates):
    """Trains with two workers; bytes that went over loopback meanwhile."""
    jobs = {"worker": free_addresses(2)}
    tasks = [{"type": "worker", "index": i} for i in range(2)]
    configs = [json.dumps({"cluster": jobs, "task": task}) for task in tasks]
    before = _loopback()
    _run([{"TF_CONFIG": config} for config in configs], workdir, updates)
    return _loopback() - before


def _run(environments, workdir, updates):
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
        raise RuntimeError("a worker failed; its error stands above")


def _loopback():
    """Bytes received at the loopback interface since the machine started."""
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[0])
    raise OSError("no loopback interface in /proc/net/dev")


def _seconds(workdir):
    """The median of an update's seconds."""
    lines = (workdir / "metrics.jsonl").read_text().splitlines()
    return statistics.median(
        1 / json.loads(line)["updates_per_second"] for line in lines
    )

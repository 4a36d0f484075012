"""The workers of a run: who they are, by TF_CONFIG, and whether all came.

Sockets and text only: a mistake is told before TensorFlow would wait on it.
"""

import json
import os
import socket
import sys
import time
from typing import NamedTuple

from srmcmc_tf.errors import UserError

# Seconds until a worker that does not come up is given up.
PATIENCE = 300.0
_EXAMPLE = (
    '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, '
    '"task": {"type": "worker", "index": 0}}'
)


class Cluster(NamedTuple):
    """All workers and which of them this process is.

    Attributes:
        names: as in TF_CONFIG, "worker 0"; the first is the chief, which
            alone writes.
        addresses: "host:port" of each.
        index: the number of this process.
    """

    names: tuple
    addresses: tuple
    index: int


def of(strategy):
    """The `Cluster` of a `--strategy`; None for a single process."""
    if strategy not in ("auto", "multi_worker"):
        return None
    text = os.environ.get("TF_CONFIG", "").strip()
    if text:
        return read(text)
    if strategy == "auto":
        return None
    raise UserError(
        "--strategy=multi_worker needs TF_CONFIG in the environment, as "
        + _EXAMPLE
    )


def read(text):
    """The `Cluster` that the text of a TF_CONFIG names."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise _wrong(f"is not JSON ({error})") from None
    jobs = _entry(values, "cluster", dict)
    task = _entry(values, "task", dict)
    for job in jobs:
        if job not in ("chief", "worker"):
            raise _wrong(f"has {job!r} in its cluster: only chief and worker")
    workers = [
        (f"{job} {i}", address)
        for job in ("chief", "worker")
        for i, address in enumerate(_entry(jobs, job, list, []))
    ]
    names, addresses = zip(*workers, strict=True) if workers else ((), ())
    for address in addresses:
        _host_and_port(address)
    if len(set(addresses)) < len(addresses):
        raise _wrong("gives two workers the same address")
    kind, index = _entry(task, "type", str), task.get("index")
    if f"{kind} {index}" not in names:
        there = ", ".join(names) or "nobody"
        raise _wrong(f"has the task {kind} {index}, its cluster only {there}")
    return Cluster(names, addresses, names.index(f"{kind} {index}"))


def meet(cluster, patience=None):
    """Waits until every other worker listens at its address.

    Until then this one listens at its own. TensorFlow takes that port
    afterwards, so that who comes late still finds it open.

    Args:
        cluster: a `Cluster`.
        patience: seconds to wait at the most, by default `PATIENCE`.

    Raises:
        UserError: names the workers that did not come.
    """
    patience = PATIENCE if patience is None else patience
    own = cluster.addresses[cluster.index]
    missing = dict(zip(cluster.names, cluster.addresses, strict=True))
    del missing[cluster.names[cluster.index]]
    begin, told = time.monotonic(), False
    with _listen(own):
        while True:
            missing = {n: a for n, a in missing.items() if not _listens(a)}
            if not missing:
                return
            who = ", ".join(f"{n} ({a})" for n, a in missing.items())
            waited = time.monotonic() - begin
            if waited > patience:
                raise UserError(
                    f"{who} of TF_CONFIG did not come up within "
                    f"{patience:.0f} s: start the same command on every "
                    "worker, each with its own task index"
                )
            if waited > 5 and not told:
                text = f"waiting for {who}, up to {patience:.0f} s"
                print(text, file=sys.stderr, flush=True)
                told = True
            time.sleep(0.2)


def _entry(values, name, kind, *default):
    """A value of a dictionary from JSON, or a `UserError` that tells it."""
    value = (values if isinstance(values, dict) else {}).get(name, *default)
    if not isinstance(value, kind):
        words = {dict: "an object", list: "a list", str: "text"}
        raise _wrong(f"needs {name!r}, {words[kind]}")
    return value


def _host_and_port(address):
    host, _, port = str(address).rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 2**16:
        raise _wrong(f"has the address {address!r}: must be host:port")
    return host.strip("[]"), int(port)


def _wrong(text):
    return UserError(f"TF_CONFIG {text}. It should look like {_EXAMPLE}")


def _listen(address):
    _, port = _host_and_port(address)
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    try:
        return socket.create_server(
            ("", port), family=family, backlog=1024, dualstack_ipv6=both
        )
    except OSError as error:
        raise UserError(
            f"cannot listen at port {port}, which TF_CONFIG gives to this "
            f"worker: {error.strerror}"
        ) from None


def _listens(address):
    try:
        socket.create_connection(_host_and_port(address), 1).close()
        return True
    except OSError:
        return False

"""The workers of a run: their addresses in TF_CONFIG, and whether all are up.

It uses sockets and text only: mistakes are reported before TensorFlow is
imported, which would wait for workers that never come.
"""

import dataclasses
import json
import logging
import os
import socket
import time
from typing import Any

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import paths

logger = logging.getLogger(__name__)

# Seconds to wait for a worker that does not come up.
PATIENCE = 300.0
_EXAMPLE = (
    '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, '
    '"task": {"type": "worker", "index": 0}}'
)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """All workers, and which of them this process is.

    Attributes:
        names: as in TF_CONFIG, "worker 0"; the first is the chief.
        addresses: "host:port" of each.
        index: the number of this process.
    """

    names: tuple[str, ...]
    addresses: tuple[str, ...]
    index: int

    @property
    def is_chief(self) -> bool:
        """Whether this process is the one that writes the run directory."""
        return self.index == 0


def from_environment(strategy: str) -> Cluster | None:
    """The `Cluster` of a `--strategy`; None for a single process."""
    if strategy not in ("auto", "multi_worker"):
        return None
    text = os.environ.get("TF_CONFIG", "").strip()
    if text:
        return read(text)
    if strategy == "auto":
        return None
    raise UserError(
        "--strategy=multi_worker needs TF_CONFIG in the environment, such as "
        + _EXAMPLE
    )


def read(text: str) -> Cluster:
    """The `Cluster` that the text of a TF_CONFIG describes."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
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
        there = ", ".join(names) or "no worker"
        raise _wrong(
            f"has the task {kind} {index}, but its cluster has only {there}"
        )
    return Cluster(names, addresses, names.index(f"{kind} {index}"))


def wait_for_workers(cluster: Cluster, patience: float | None = None) -> None:
    """Waits until every other worker listens at its address.

    Until then this one listens at its own. TensorFlow takes over that port
    afterwards, so workers that start later still find it open.

    Args:
        cluster: a `Cluster`.
        patience: seconds to wait at most, by default `PATIENCE`.

    Raises:
        UserError: names the workers that did not come up.
    """
    patience = PATIENCE if patience is None else patience
    own = cluster.addresses[cluster.index]
    missing = dict(zip(cluster.names, cluster.addresses, strict=True))
    del missing[cluster.names[cluster.index]]
    begin, announced = time.monotonic(), False
    with _listen(own):
        while True:
            missing = {n: a for n, a in missing.items() if not _listens(a)}
            if not missing:
                return
            who = ", ".join(f"{n} ({a})" for n, a in missing.items())
            waited = time.monotonic() - begin
            if waited > patience:
                raise UserError(
                    f"{who} of TF_CONFIG did not start within "
                    f"{patience:.0f} s: start the same command on every "
                    "worker, each with its own task index"
                )
            if waited > 5 and not announced:
                logger.warning("waiting for %s, up to %.0f s", who, patience)
                announced = True
            time.sleep(0.2)


def _entry(values: Any, name: str, kind: type, *default: Any) -> Any:
    """A value of a dictionary from JSON; `UserError` if it is of no use."""
    value = (values if isinstance(values, dict) else {}).get(name, *default)
    if not isinstance(value, kind):
        words: dict[type, str]
        words = {dict: "an object", list: "a list", str: "text"}
        raise _wrong(f"needs {name!r}, {words[kind]}")
    return value


def _host_and_port(address: Any) -> tuple[str, int]:
    host, _, text = str(address).rpartition(":")
    port = paths.number(text)
    if not host or port is None or not 0 < port < 2**16:
        raise _wrong(f"has the address {address!r}: must be host:port")
    return host.strip("[]"), port


def _wrong(text: str) -> UserError:
    return UserError(f"TF_CONFIG {text}. It should look like {_EXAMPLE}")


def _listen(address: str) -> socket.socket:
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


def _listens(address: str) -> bool:
    try:
        socket.create_connection(_host_and_port(address), 1).close()
        return True
    except OSError:
        return False

"""Run directories: whose they are, what they were started with.

RUN/config.json is written first and makes a directory a run; everything else
follows from it.
"""

import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib

from srmcmc_tf import config as configs
from srmcmc_tf.errors import UserError

FORMAT = 1
# Where the data lie may change: their digest is compared instead.
_FREE = ("data_dir",)


def stored(workdir):
    """The config and the data's digest of a run, or None if it is none."""
    path = pathlib.Path(workdir) / "config.json"
    try:
        values = json.loads(path.read_text())
        if values.pop("format") != FORMAT:
            raise UserError(f"{path} is of another version of srmcmc_tf")
        digest = values.pop("data_digest")
        return configs.from_dict(values), digest
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        raise UserError(f"{path} is not a config of srmcmc_tf") from None


def settle(workdir, flags):
    """The config of a new run, or that of the run which is there already.

    Args:
        workdir: the run directory, there or not.
        flags: settings given on the command line, by name.

    Returns:
        A `Config`. `UserError` where the flags contradict the run.
    """
    there = stored(workdir)
    if there is None:
        base = configs.load(flags.get("dataset", "digits"))
        return dataclasses.replace(base, **flags)
    config, _ = there
    old = {name: getattr(config, name) for name in flags}
    other = [
        f"--{name}={flags[name]} (the run has {old[name]})"
        for name in flags
        if flags[name] != old[name]
        and name not in _FREE
        and not (name == "updates" and flags[name] > old[name])
    ]
    if other:
        raise UserError(
            f"{workdir} holds a run with other settings: {', '.join(other)}. "
            "Only --updates may grow; choose another --workdir"
        )
    return dataclasses.replace(config, **flags)


def save(workdir, config, digest):
    """Writes `config.json`; `UserError` where the data are not the run's."""
    there = stored(workdir)
    if there and there[1] != digest:
        raise UserError(
            f"the data of {workdir} have changed since the run was started; "
            "bring them back or choose another --workdir"
        )
    values = dataclasses.asdict(config)
    values |= {"data_digest": digest, "format": FORMAT}
    path = pathlib.Path(workdir) / "config.json"
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(values, indent=2) + "\n")
    os.replace(temporary, path)


@contextlib.contextmanager
def claim(workdir):
    """Makes a run directory one's own, until the block ends or the process."""
    workdir = pathlib.Path(workdir)
    workdir.mkdir(parents=True, exist_ok=True)
    ours = {".lock", "config.tmp"}
    if not (workdir / "config.json").exists():
        if any(entry.name not in ours for entry in workdir.iterdir()):
            raise UserError(
                f"{workdir} holds something else than a run of srmcmc_tf; "
                "nothing was touched: choose another --workdir"
            )
    with open(workdir / ".lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another process is training in {workdir}"
            ) from None
        yield workdir

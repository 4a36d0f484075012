"""Run directories: whose they are, what they were started with.

RUN/config.json is written first and makes a directory a run; everything else
follows from it.
"""

import contextlib
import dataclasses
import fcntl
import json
import math
import os
import pathlib

from srmcmc_tf.config import config as configs
from srmcmc_tf.config import presets
from srmcmc_tf.config.model_kinds import MODEL_KINDS
from srmcmc_tf.errors import UserError

FORMAT = 1
# Where the data lie may change: their digest is compared instead. And so may
# the place of Inception, and the devices: they change rounding alone.
FREE = ("data_dir", "inception", "strategy")


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


def require(workdir):
    """The config of a run; `UserError` where there is none."""
    there = stored(workdir)
    if there is None:
        raise UserError(f"{workdir} is no run: bin/train makes one")
    return there[0]


def settle(workdir, flags):
    """The config of a new run, or that of the run which is there already.

    Args:
        workdir: the run directory, there or not.
        flags: settings given on the command line, by name.

    Returns:
        A `Config`. `UserError` where the flags contradict the run.
    """
    check_ours(workdir)
    there = stored(workdir)
    if there is None:
        model = flags.get("model", "ebm")
        MODEL_KINDS[model].check_flags(flags)
        base = presets.load(flags.get("dataset", "digits"), model)
        return dataclasses.replace(base, **flags)
    _check_same(workdir, there[0], flags)
    return dataclasses.replace(there[0], **flags)


def save(workdir, config, digest):
    """Writes `config.json`; `UserError` where the run there is another."""
    there = stored(workdir)
    if there:
        _check_same(workdir, there[0], dataclasses.asdict(config))
        if there[1] != digest:
            raise UserError(
                f"the data of {workdir} have changed since the run was "
                "started; bring them back or choose another --workdir"
            )
        if there[0] == config:
            return
    values = dataclasses.asdict(config)
    values |= {"data_digest": digest, "format": FORMAT}
    path = pathlib.Path(workdir) / "config.json"
    temporary = path.with_suffix(".tmp")
    with open(temporary, "w") as file:
        file.write(json.dumps(values, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def check_ours(workdir):
    """Refuses a directory that holds something else than a run."""
    workdir = pathlib.Path(workdir)
    if workdir.exists() and not workdir.is_dir():
        raise UserError(f"--workdir={workdir} is not a directory")
    if not workdir.exists() or (workdir / "config.json").exists():
        return
    if {entry.name for entry in workdir.iterdir()} - {".lock", "config.tmp"}:
        raise UserError(
            f"{workdir} holds something else than a run of srmcmc_tf; "
            "nothing was touched: choose another --workdir"
        )


@contextlib.contextmanager
def claim(workdir):
    """Makes a run directory one's own, until the block ends or the process."""
    workdir = pathlib.Path(workdir)
    check_ours(workdir)
    workdir.mkdir(parents=True, exist_ok=True)
    with open(workdir / ".lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another process is training in {workdir}"
            ) from None
        try:
            yield workdir
        finally:
            if not (workdir / "config.json").exists():  # it never began
                (workdir / ".lock").unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    workdir.rmdir()


def cut_after(path, update):
    """Drops the lines of a metrics file after `update`, and broken ones."""
    if path.exists():
        with open(path, errors="replace") as file:
            kept = [line for line in file if _update_of(line) <= update]
        temporary = path.with_suffix(".tmp")
        temporary.write_text("".join(kept))
        os.replace(temporary, path)


def _check_same(workdir, config, values):
    """`UserError` with the differences where values are not the run's."""
    old = dataclasses.asdict(config)
    other = [
        f"--{name}={value} (the run has {old[name]})"
        for name, value in values.items()
        if value != old[name]
        and name not in FREE
        and not (name == "updates" and value > old[name])
    ]
    if other:
        raise UserError(
            f"{workdir} holds a run with other settings: {', '.join(other)}. "
            "Only --updates may grow, and --data_dir, --inception and "
            "--strategy change; choose another --workdir"
        )


def _update_of(line):
    try:
        return json.loads(line)["update"]
    except (ValueError, KeyError, TypeError):
        return math.inf

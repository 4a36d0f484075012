"""A run directory, and the names of all files in it.

`config.json` is written first and makes a directory a run; everything else
follows from it. No other module knows a file name inside a run directory.
"""

import contextlib
import dataclasses
import fcntl
import functools
import os
import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from srmcmc_tf import __version__
from srmcmc_tf.config import upgrade
from srmcmc_tf.config.config import FIELDS, Config, from_dict
from srmcmc_tf.config.fields import flag_name
from srmcmc_tf.config.model_kinds import ModelKind
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, json_file, paths
from srmcmc_tf.runs import metrics_log
from srmcmc_tf.runs.evaluations import Evaluations
from srmcmc_tf.runs.interventions import Interventions

if TYPE_CHECKING:  # TensorFlow takes seconds to import, and --help needs none
    from srmcmc_tf.models.generator import Generator
    from srmcmc_tf.runs.checkpoints import Checkpoints

# Settings of the machine, not of the run. The location of the data may change,
# since their digest is compared instead; so may that of Inception, and the
# devices, which change rounding alone.
MACHINE_SETTINGS = ("data_dir", "inception", "strategy")
# What bin/evaluate and bin/reconstruct write to their output directory.
EVALUATION = "evaluation.json"
RECONSTRUCTION = "reconstruction.json"

_CONFIG = "config.json"
_LOCK = ".lock"


class Run:
    """A run directory, which may not exist yet.

    Args:
        directory: its path.

    Attributes:
        path: the directory.
        interventions: those of the divergence guard.
        evaluations: those made during training.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.path = paths.utf8(directory)
        self.interventions = Interventions(self.path / "interventions.jsonl")
        self.evaluations = Evaluations(self.path / "evaluations.json")

    def __str__(self) -> str:
        return str(self.path)

    @property
    def exists(self) -> bool:
        """Whether the directory is a run already."""
        return (self.path / _CONFIG).exists()

    @property
    def config(self) -> Config:
        """The settings of the run; `UserError` where there is no run."""
        return self._stored[0]

    @property
    def data_digest(self) -> str:
        """The digest of the examples that the run was started with."""
        return self._stored[1]

    @property
    def kind(self) -> ModelKind:
        """The kind of its model."""
        return self.config.kind

    @property
    def points(self) -> bool:
        """Whether the model draws points, not images."""
        return self.config.data.points

    def require(self) -> "Run":
        """Returns the run itself; `UserError` where there is none."""
        _ = self.config
        return self

    @property
    def checkpoints(self) -> "Checkpoints":
        """The newest checkpoints, and those the guard may roll back to."""
        return self._checkpoints("checkpoints")

    @property
    def best(self) -> "Checkpoints":
        """The checkpoints of the best evaluations made during training."""
        return self._checkpoints("best")

    @property
    def metrics_file(self) -> pathlib.Path:
        """The quantities of each logged update, a line of JSON each."""
        return self.path / "metrics.jsonl"

    @property
    def tensorboard_directory(self) -> pathlib.Path:
        return self.path / "tensorboard"

    @property
    def generated_directory(self) -> pathlib.Path:
        """Where commands write samples and results by default."""
        return self.path / "generated"

    def output_directory(
        self, chosen: str | os.PathLike[str] | None = None
    ) -> pathlib.Path:
        """Makes and returns the directory that a command writes to.

        Args:
            chosen: its path, by default `generated_directory`.
        """
        path = pathlib.Path(chosen or self.generated_directory)
        path.mkdir(parents=True, exist_ok=True)
        return path

    @property
    def export_directory(self) -> pathlib.Path:
        """Where the versions of a served model go by default."""
        return self.path / "export"

    @property
    def weights_file(self) -> pathlib.Path:
        """Where the weights are exported to by default."""
        return self.path / "weights.npz"

    def picture(self, update: int) -> pathlib.Path:
        """Returns the path of the picture drawn after an update."""
        return self.path / "samples" / f"{update:06d}.png"

    def pictures(self) -> list[pathlib.Path]:
        """Returns the pictures drawn during training, oldest first."""
        found = self.picture(0).parent.glob("*.png")
        numbers = {path: paths.number(path.stem) for path in found}
        own = [path for path, number in numbers.items() if number is not None]
        return sorted(own, key=lambda path: int(path.stem))

    def measurements(self, identity: str) -> dict[str, Any]:
        """Returns what the commands measured of a model, by name.

        Args:
            identity: digest of the model's weights; measurements of other
                weights are left out.
        """
        found: dict[str, Any] = {}
        for name, schema in (
            (EVALUATION, {"identity": str, "records": {str: dict}}),
            (RECONSTRUCTION, {"identity": str, "mse": float, "n": int}),
        ):
            path = self.generated_directory / name
            remedy = "move it away, and measure again where you need it"
            result = json_file.read(path, schema, remedy=remedy) or {}
            if result.pop("identity", None) == identity:
                found |= result.get("records", {path.stem: result})
        return found

    def load_model(
        self, *, best: bool = False, strategy: str | None = None
    ) -> "Generator":
        """Returns the compiled model of the run; see `loading.load_run`."""
        from srmcmc_tf.runs import loading

        return loading.load_run(self, best=best, strategy=strategy)

    def settle(self, flags: dict[str, Any]) -> Config:
        """Returns the config of a new run, or of the run that is there.

        Args:
            flags: settings given on the command line, by name; `UserError`
                where they contradict the run.
        """
        self._check_ours()
        if not self.exists:
            from srmcmc_tf.runs import defaults  # which knows runs

            return defaults.new_config(flags)
        self._check_same(flags)
        return dataclasses.replace(self.config, **flags)

    def save_config(self, config: Config, digest: str) -> None:
        """Writes the config; `UserError` where the run there is another."""
        if self.exists:
            self._check_same(dataclasses.asdict(config))
            if self.data_digest != digest:
                raise UserError(
                    f"the data of {self} have changed since the run was "
                    "started; restore them or choose another --workdir"
                )
            if self.config == config:
                return
        values = dataclasses.asdict(config)
        values |= {
            "data_digest": digest,
            "format": upgrade.FORMAT,
            "version": __version__,
        }
        atomic.write_json(self.path / _CONFIG, values)
        self.__dict__.pop("_stored", None)

    @contextlib.contextmanager
    def lock(self) -> Iterator["Run"]:
        """Reserves the directory until the block or the process ends."""
        self._check_ours()
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.path / _LOCK, "a", opener=atomic.open_own) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(
                    f"another process is training in {self}"
                ) from None
            atomic.remove_leftovers(self.path)
            try:
                yield self
            finally:
                if not self.exists:  # it never began
                    (self.path / _LOCK).unlink(missing_ok=True)
                    with contextlib.suppress(OSError):
                        self.path.rmdir()

    def resume_metrics(self, update: int) -> None:
        """Drops the logged lines after an update."""
        metrics_log.resume(self.metrics_file, update)

    def metrics(self) -> list[metrics_log.Logged]:
        """Returns the logged quantities of each update, in order."""
        return metrics_log.read(self.metrics_file)

    @functools.cached_property
    def _stored(self) -> tuple[Config, str]:
        path = self.path / _CONFIG
        remedy = (
            "restore it from a copy: no default is assumed, and nothing else "
            "of the run was changed"
        )
        schema = {"format": int, "data_digest": str}
        values = json_file.read(
            path, schema, remedy=remedy, newest=upgrade.FORMAT
        )
        if values is None:
            raise UserError(
                f"{self} is not a run directory; bin/train creates one"
            )
        written, digest = values.pop("format"), values.pop("data_digest")
        values.pop("version", None)
        try:
            return from_dict(upgrade.upgrade(values, written)), digest
        except UserError as error:
            raise UserError(f"{path}: {error}; {remedy}") from None

    def _checkpoints(self, name: str) -> "Checkpoints":
        from srmcmc_tf.runs.checkpoints import Checkpoints

        return Checkpoints(self.path / name)

    def _check_ours(self) -> None:
        """Refuses a directory that holds something else than a run."""
        if self.path.exists() and not self.path.is_dir():
            raise UserError(f"--workdir={self} is not a directory")
        if not self.path.exists() or self.exists:
            return
        own = {self.path / _LOCK, *atomic.leftovers(self.path)}
        if set(self.path.iterdir()) - own:
            raise UserError(
                f"{self} contains other files than a run of srmcmc_tf; "
                "nothing was changed: choose another --workdir"
            )

    def _check_same(self, values: dict[str, Any]) -> None:
        """`UserError` with the differences where values are not the run's."""
        old = dataclasses.asdict(self.config)
        other = [
            f"--{flag_name(FIELDS[name])}={value} (the run has "
            f"{'none' if old[name] == '' else old[name]})"
            for name, value in values.items()
            if value != old[name]
            and name not in MACHINE_SETTINGS
            and not (name == "updates" and value > old[name])
        ]
        if other:
            raise UserError(
                f"{self} holds a run with other settings: {', '.join(other)}. "
                "Only --updates may grow, and --data_dir, --inception and "
                "--strategy change; choose another --workdir"
            )

"""Where a command's model comes from: a run, a model file, or a preset."""

import functools
import os
import pathlib
import zipfile
from typing import TYPE_CHECKING, Any, Protocol

from srmcmc_tf.config.model_kinds import MODEL_KINDS, ModelKind
from srmcmc_tf.errors import UserError, reason
from srmcmc_tf.files import json_file, paths
from srmcmc_tf.runs import preset as presets
from srmcmc_tf.runs.run import Run

if TYPE_CHECKING:  # TensorFlow takes seconds to import, and --help needs none
    from srmcmc_tf.models.generator import Generator

# The kind of model of each class that `model.save` writes.
_KINDS = {"ShortRunEBM": "ebm", "VAE": "vae", "DCGAN": "dcgan"}


class Source(Protocol):
    """What a command needs of a run; a `ModelFile` has it, too."""

    @property
    def kind(self) -> ModelKind:
        """The kind of its model."""

    @property
    def points(self) -> bool:
        """Whether the model draws points, not images."""

    @property
    def generated_directory(self) -> pathlib.Path: ...

    @property
    def export_directory(self) -> pathlib.Path: ...

    @property
    def weights_file(self) -> pathlib.Path: ...

    def output_directory(
        self, chosen: str | os.PathLike[str] | None = None
    ) -> pathlib.Path: ...

    def measurements(self, identity: str) -> dict[str, Any]: ...

    def load_model(
        self, *, best: bool = False, strategy: str | None = None
    ) -> "Generator": ...


class ModelFile:
    """A model that `model.save` wrote: `MODEL.keras`.

    What commands write goes to the directory `MODEL/`, under the names it has
    in a run directory.

    Args:
        path: of the file; `UserError` where it holds no model of ours.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)
        self.kind = _kind(self.path)
        directory = Run(self.path.with_suffix(""))
        self.generated_directory = directory.generated_directory
        self.export_directory = directory.export_directory
        self.weights_file = directory.weights_file
        self.output_directory = directory.output_directory
        self.measurements = directory.measurements

    def __str__(self) -> str:
        return str(self.path)

    @functools.cached_property
    def points(self) -> bool:
        return len(self.load_model().image_shape) != 3

    def load_model(
        self, *, best: bool = False, strategy: str | None = None
    ) -> "Generator":
        """Returns the compiled model; see `loading.load_file`."""
        from srmcmc_tf.runs import loading

        return loading.load_file(self.path, best=best, strategy=strategy)


def open_source(
    workdir: str | None, model_file: str | None, preset: str | None = None
) -> Source:
    """Returns the run, the model file or the preset a command was given.

    `UserError` unless it was given exactly one, or where there is none.
    """
    given = sum(map(bool, (workdir, model_file, preset)))
    if given > 1:
        raise UserError("give only one of --workdir, --model_file, --preset")
    if not given:
        raise UserError(
            "needs one of --workdir=RUN, a run of bin/train, "
            "--model_file=MODEL.keras, a saved model, and --preset=NAME "
            f"({', '.join(presets.names())})"
        )
    if preset:
        return presets.Preset(preset)
    return ModelFile(model_file) if model_file else Run(str(workdir)).require()


def _kind(path: pathlib.Path) -> ModelKind:
    """The kind of a file's model, without TensorFlow."""
    if path.suffix != ".keras":
        raise UserError(f"{path} is not a model file: its name ends in .keras")
    try:
        paths.regular(path)
        with zipfile.ZipFile(path) as archive:
            text = archive.read("config.json").decode()
        name = json_file.parse(text, {"class_name": str})["class_name"]
    except FileNotFoundError:
        raise UserError(f"{path}: no such model file") from None
    except Exception as error:  # a damaged archive raises all kinds of them
        raise UserError(
            f"{path} is not a file of model.save ({reason(error)})"
        ) from None
    if name not in _KINDS:
        raise UserError(
            f"{path} holds a {name}, not one of {', '.join(_KINDS)}: save "
            "srmcmc_tf.ShortRunEBM(energy) instead"
        )
    return MODEL_KINDS[_KINDS[name]]

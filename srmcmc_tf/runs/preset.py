"""Presets: small trained models with their model cards, some in the package.

A preset is two files: `NAME.npz`, the weights of all stages in float16, and
`NAME.json`, its card: data and their license, settings, metrics, the command
that trained it, and the checksum of the weights. One outside of the package is
named by its path without a suffix.
"""

import functools
import hashlib
import io
import os
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from srmcmc_tf.config import fields, upgrade
from srmcmc_tf.config.config import Config, from_dict
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, json_file, npz
from srmcmc_tf.runs.run import MACHINE_SETTINGS, Run

if TYPE_CHECKING:  # TensorFlow takes seconds to import, and --help needs none
    from srmcmc_tf.models.generator import Generator

PREFIX = "preset:"
DEFAULT = "digits"  # what bin/sample and bin/demo show without arguments

_DIRECTORY = pathlib.Path(__file__).resolve().parents[1] / "presets"
# What is used of a card.
_CARD = {
    "data_digest": str,
    "format": int,
    "metrics": {str: dict},
    "settings": dict,
    "sha256": str,
    "update": int,
}


class OtherNetworks(UserError):
    """The weights of `origin` do not fit into a model."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"{origin} has other networks: --model, --image_size, --channels, "
            "--n_f, --network, --conditional and the number of --coarse_K must "
            "be its own"
        )


def names() -> list[str]:
    """Returns the presets of the package."""
    return sorted(path.stem for path in _DIRECTORY.glob("*.json"))


class Preset(Run):
    """A trained model of the package, or of a path, in place of a run.

    What commands write goes to `runs/preset_NAME/`.

    Args:
        name: of the preset, or the path of one, with or without the suffix
            of its files; `UserError` where there is none.
    """

    def __init__(self, name: str) -> None:
        own = is_path(name)
        if own:
            name = name.removesuffix(".json").removesuffix(".npz")
        path = pathlib.Path(name).expanduser() if own else _DIRECTORY / name
        if own and not _file(path, "json").exists():
            raise UserError(
                f"no preset {name}: no file {name}.json; bin/export "
                f"--format=preset --out={name} writes one"
            )
        if not own and name not in names():
            hint = fields.suggest(name, names())
            raise UserError(
                f"no preset {name!r}: there are {', '.join(names())}; one of "
                f"your own is a path, such as ./mine{hint}"
            )
        self._path = path
        self._remedy = "export it again" if own else "install srmcmc_tf again"
        super().__init__(f"runs/preset_{path.name}")
        self.name = name

    def __str__(self) -> str:
        return PREFIX + self.name

    @functools.cached_property
    def card(self) -> dict[str, Any]:
        """What is known of the model."""
        path = _file(self._path, "json")
        found = json_file.read(
            path, _CARD, remedy=self._remedy, newest=upgrade.FORMAT
        )
        if found is None:
            raise UserError(f"{path}: no such file; {self._remedy}")
        return found

    @functools.cached_property
    def _stored(self) -> tuple[Config, str]:
        settings = upgrade.upgrade(self.card["settings"], self.card["format"])
        usual = Config()
        machine = {name: getattr(usual, name) for name in MACHINE_SETTINGS}
        try:
            config = from_dict({**machine, **settings})
        except UserError as error:
            raise UserError(f"{self}: {error}; {self._remedy}") from None
        return config, self.card["data_digest"]

    def measurements(self, identity: str) -> dict[str, Any]:
        """Returns what was measured of the preset, by name."""
        return {**self.card["metrics"], **super().measurements(identity)}

    def weights(self) -> list[np.ndarray]:
        """Returns the weights in the order of `model.weights`, float32.

        `UserError` where they are not those of the card.
        """
        path = _file(self._path, "npz")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UserError(
                f"{path}: {error.strerror}; {self._remedy}"
            ) from None
        if hashlib.sha256(content).hexdigest() != self.card["sha256"]:
            raise UserError(
                f"{path} is damaged: its checksum is not that of its model "
                f"card; {self._remedy}"
            )
        arrays = npz.read(io.BytesIO(content))
        return [arrays[name].astype(np.float32) for name in sorted(arrays)]

    def load_model(
        self, *, best: bool = False, strategy: str | None = None
    ) -> "Generator":
        """Returns the compiled model; `best` is for runs.

        Its rate and sigma are those at the end of its training. Adam starts
        anew, so updates are counted from 0: its first steps would be far too
        long with the count of the training and without its moments.
        """
        if best:
            raise UserError(f"{self} is a single model: `best` is for runs")
        from srmcmc_tf.distribution import strategies
        from srmcmc_tf.models import factory

        with strategies.local(strategy or "auto").scope():
            model = factory.build(
                factory.settled(self.config, self.card["update"])
            )
            model.average = None  # it is the average already
            assign(model, self.weights(), str(self))
        return model


def is_path(name: str) -> bool:
    """Whether a name is the path of a preset outside of the package."""
    return os.sep in name


def parse(text: str) -> Preset:
    """Returns the preset of a text such as "preset:digits"."""
    return Preset(name_of(text))


def name_of(text: str) -> str:
    """Returns the name or path in such a text; `UserError` for another one."""
    name = text.removeprefix(PREFIX)
    if name in ("", text):
        raise UserError(
            f"--from={text}: must be {PREFIX}NAME, such as {PREFIX}{DEFAULT}"
        )
    return name


def assign(
    model: "Generator", weights: Sequence[np.ndarray], origin: str
) -> None:
    """Gives a model weights; `UserError` where they are of other networks."""
    if [w.shape for w in weights] != [tuple(w.shape) for w in model.weights]:
        raise OtherNetworks(origin)
    for variable, value in zip(model.weights, weights, strict=True):
        variable.assign(value)


def write(out: pathlib.Path, model: "Generator", facts: dict[str, Any]) -> None:
    """Writes a preset: `OUT.npz` and `OUT.json`.

    Args:
        out: its path, without a suffix.
        model: a trained model.
        facts: of `serving.model_card.facts`.
    """
    arrays = {
        f"{i:03d}": np.asarray(w, np.float32).astype(np.float16)
        for i, w in enumerate(model.weights)
    }
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise UserError("a weight is too large for float16, or not finite")
    weights = _file(out, "npz")
    npz.save(weights, arrays)
    card = {
        **facts,
        "format": upgrade.FORMAT,
        "weights": "float16; metrics are of the weights before rounding",
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
    }
    atomic.write_json(_file(out, "json"), card)


def _file(path: pathlib.Path, kind: str) -> pathlib.Path:
    # Not `with_suffix`, which would take a dot in the name for one.
    return path.parent / f"{path.name}.{kind}"

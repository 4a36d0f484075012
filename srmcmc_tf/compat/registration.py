"""Makes `import srmcmc_tf` enough for `keras.saving.load_model`.

Keras finds a class of a file in its table of registered objects. Ours are
registered when their modules are imported, which imports TensorFlow. So until
then the table holds stand-ins that import them when a file needs them. It is
filled as soon as Keras is imported, by whomever; this module imports nothing.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence
from typing import Any

# What a file may hold, and the modules that define and register it.
HOMES = {
    "Anneal": "srmcmc_tf.models.schedules",
    "ChooseClass": "srmcmc_tf.models.conditional",
    "DCGAN": "srmcmc_tf.models.baselines.dcgan",
    "ShortRunEBM": "srmcmc_tf.models.short_run",
    "Stage": "srmcmc_tf.models.stage",
    "VAE": "srmcmc_tf.models.baselines.vae",
}


def register() -> None:
    """Fills Keras's table now, or when Keras is imported."""
    if "keras" in sys.modules:
        _fill()
    else:
        sys.meta_path.insert(0, _WhenKerasIsImported())


class _StandIn:
    """Takes the place of a class until it is needed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def from_config(self, config: dict[str, Any]) -> Any:
        module = importlib.import_module(HOMES[self.name])
        return getattr(module, self.name).from_config(config)


def _fill() -> None:
    table = importlib.import_module("keras").saving.get_custom_objects()
    for name in HOMES:
        table.setdefault(f"srmcmc_tf>{name}", _StandIn(name))


class _WhenKerasIsImported(importlib.abc.MetaPathFinder):
    """Leaves the import of Keras as it is, and fills the table after it."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "keras":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_fill(module: types.ModuleType) -> None:
                execute(module)
                _fill()

            spec.loader.exec_module = execute_and_fill  # type: ignore[method-assign]
        return spec

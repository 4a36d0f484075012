"""Short-run MCMC energy-based models (Nijkamp et al., 2019) for Keras 3.

Import it before `tensorflow`: it picks TensorFlow as Keras's backend and turns
oneDNN on, which TensorFlow reads once, while it is imported.
"""

import importlib
import os
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if os.environ.setdefault("KERAS_BACKEND", "tensorflow") != "tensorflow":
    raise ImportError("srmcmc_tf needs KERAS_BACKEND=tensorflow, or unset")
# TensorFlow leaves oneDNN off on CPUs without AVX-512 VNNI, where its
# convolution gradients are about three times faster all the same.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

# After what Keras reads when it is imported.
from srmcmc_tf.compat import registration  # noqa: E402

registration.register()

if TYPE_CHECKING:
    from srmcmc_tf import callbacks, data, energies, metrics, plots
    from srmcmc_tf.config.config import Config
    from srmcmc_tf.models.short_run import ShortRunEBM
    from srmcmc_tf.models.stage import Stage
    from srmcmc_tf.runs.loading import load
    from srmcmc_tf.training.train import train

__all__ = [
    "Config",
    "ShortRunEBM",
    "Stage",
    "callbacks",
    "data",
    "energies",
    "load",
    "metrics",
    "plots",
    "train",
]

# Where the names that are no modules come from. All are loaded on first use,
# because TensorFlow takes seconds to import.
_HOMES = {
    "Config": "srmcmc_tf.config.config",
    "ShortRunEBM": "srmcmc_tf.models.short_run",
    "Stage": "srmcmc_tf.models.stage",
    "load": "srmcmc_tf.runs.loading",
    "train": "srmcmc_tf.training.train",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'srmcmc_tf' has no attribute {name!r}")
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        value = importlib.import_module(f"srmcmc_tf.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

"""Short-run MCMC energy-based models (Nijkamp et al., 2019) for Keras 3.

Import it before `tensorflow`: it picks TensorFlow as Keras's backend and turns
oneDNN on, which TensorFlow reads once, while it is imported.
"""

import importlib
import os

__version__ = "0.1.0"

if os.environ.setdefault("KERAS_BACKEND", "tensorflow") != "tensorflow":
    raise ImportError("srmcmc_tf needs KERAS_BACKEND=tensorflow, or unset")
# TensorFlow leaves oneDNN off on CPUs without AVX-512 VNNI, where its
# convolution gradients are about three times faster all the same.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

# Public names and where they come from, loaded on first use: TensorFlow takes
# seconds to import.
_MODULES = {
    "baselines": "srmcmc_tf.models.baselines",
    "callbacks": "srmcmc_tf.training.callbacks",
    "chain": "srmcmc_tf.sampling.chain",
    "checkpoints": "srmcmc_tf.runs.checkpoints",
    "data": "srmcmc_tf.data",
    "energies": "srmcmc_tf.models.energies",
    "plots": "srmcmc_tf.plots",
    "schedules": "srmcmc_tf.models.schedules",
}
_NAMES = {
    "Config": "srmcmc_tf.config.config",
    "ShortRunEBM": "srmcmc_tf.models.short_run",
}
__all__ = ["__version__", *_MODULES, *_NAMES]


def __getattr__(name):
    if name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    elif name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
    else:
        raise AttributeError(f"module 'srmcmc_tf' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)

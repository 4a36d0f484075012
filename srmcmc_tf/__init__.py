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

# Public names and their modules, loaded on first use: TensorFlow takes seconds.
_PUBLIC = {
    "ShortRunEBM": "model",
    "Config": "config",
    "baselines": None,
    "callbacks": None,
    "checkpoints": None,
    "data": None,
    "energy": None,
    "plots": None,
    "sampler": None,
    "schedule": None,
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name):
    if name not in _PUBLIC:
        raise AttributeError(f"module 'srmcmc_tf' has no attribute {name!r}")
    module = importlib.import_module(f"srmcmc_tf.{_PUBLIC[name] or name}")
    value = getattr(module, name) if _PUBLIC[name] else module
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)

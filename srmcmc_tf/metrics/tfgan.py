"""tensorflow-gan's metrics, in spite of its import.

`import tensorflow_gan` needs `tf.estimator`, which TensorFlow no longer has,
and the import of any part of it runs the same `__init__`. Its file of metrics
needs TensorFlow only, and tensorflow-probability for the covariance of FID.
"""

import functools
import importlib
import importlib.util
import sys
import types


@functools.cache
def load():
    """The module `tensorflow_gan.python.eval.classifier_metrics`.

    Its parent packages are put in place bare, without their `__init__`, and
    tensorflow-probability, which takes seconds, is imported on its first use.
    """
    if "tensorflow_probability" not in sys.modules:
        spec = importlib.util.find_spec("tensorflow_probability")
        spec.loader = importlib.util.LazyLoader(spec.loader)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    # Finds the package without running it.
    folder = importlib.util.find_spec("tensorflow_gan").origin
    folder = folder.removesuffix("/__init__.py")
    for name in ("", ".python", ".python.eval"):
        package = types.ModuleType(f"tensorflow_gan{name}")
        package.__path__ = [folder + name.replace(".", "/")]
        sys.modules.setdefault(package.__name__, package)
    return importlib.import_module(
        "tensorflow_gan.python.eval.classifier_metrics"
    )

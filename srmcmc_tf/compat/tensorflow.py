"""Private parts and patches of TensorFlow, Keras and tensorflow-gan.

Nothing else in this package imports or replaces a private name of another
one. Each function here states why there is no public alternative and raises
`UserError` with the versions it was tested with if the private name is gone.
"""

import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import sys
import types
from collections.abc import Iterator
from typing import Any, NoReturn

from srmcmc_tf.errors import UserError

# The versions that the workarounds were tested with, by distribution.
TESTED = {
    "keras": "3.15",
    "tensorflow": "2.21",
    "tensorflow-gan": "2.1",
}


def set_heartbeat_timeout(seconds: int) -> None:
    """Changes how long TensorFlow waits for a heartbeat of another worker.

    Call it before a `MultiWorkerMirroredStrategy` is created. That class
    configures the coordination service itself, with a timeout of 10 seconds,
    and has no argument for it; a busy machine may be silent for longer.
    """
    try:
        from tensorflow.python.eager import context

        configure = context.context().configure_coordination_service
        parameters = inspect.signature(configure).parameters
    except (ImportError, AttributeError):
        _fail("tensorflow", "a coordination service to configure")
    if "heartbeat_timeout_in_ms" not in parameters:
        _fail("tensorflow", "a heartbeat timeout")
    context.context().configure_coordination_service = functools.partial(
        configure, heartbeat_timeout_in_ms=1000 * seconds
    )


def expect_summed_gradients(optimizer: Any) -> None:
    """Makes an optimizer take gradients that are summed over replicas.

    Keras sums them in the optimizer and does not return the sum, whose norm
    is logged. It has no public switch for gradients that are already summed.
    """
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    if not hasattr(optimizer, "_all_reduce_sum_gradients"):
        _fail("keras", "optimizers that sum gradients over replicas")
    optimizer._all_reduce_sum_gradients = lambda pairs: pairs


def without_retracing_warning(function: Any) -> Any:
    """A `tf.function` whose retracing TensorFlow does not warn of.

    TensorFlow counts traces by the line of a function's definition. The stages
    of a model, and all models of a process, share those lines, so their first
    calls pass for retracing. There is no public switch; where the private one
    is gone, the warnings are shown.
    """
    if hasattr(function, "_omit_frequent_tracing_warning"):
        function._omit_frequent_tracing_warning = True
    return function


def chain_of_datasets(dataset: Any) -> Iterator[Any]:
    """A `tf.data.Dataset` and those that it was made from.

    There is no public way to them. Where the private one is gone, only the
    dataset itself is found.
    """
    yield dataset
    for source in getattr(dataset, "_inputs", list)():
        yield from chain_of_datasets(source)


def layer_of(tensor: Any) -> tuple[Any, list[Any]]:
    """The Keras layer that a symbolic tensor comes from, and its inputs.

    A layer says its own `output` only if it was called once; those of a
    Sequential model were called more often.
    """
    try:
        layer, node, _ = tensor._keras_history
        return layer, list(layer._inbound_nodes[node].input_tensors)
    except AttributeError:
        _fail("keras", "tensors that know their layer")


@functools.cache
def tensorflow_gan_metrics() -> types.ModuleType:
    """The module `tensorflow_gan.python.eval.classifier_metrics`.

    `import tensorflow_gan` needs `tf.estimator`, which TensorFlow no longer
    has, and an import of any part of it runs the same `__init__`. Its file of
    metrics needs TensorFlow only, and tensorflow-probability for the
    covariance of FID. So its parent packages are created empty, without
    running their `__init__`.
    """
    spec = importlib.util.find_spec("tensorflow_gan")  # does not run it
    if spec is None or spec.origin is None:
        _fail("tensorflow-gan", "a package tensorflow_gan")
    folder = spec.origin.removesuffix("/__init__.py")
    for name in ("", ".python", ".python.eval"):
        package = types.ModuleType(f"tensorflow_gan{name}")
        package.__path__ = [folder + name.replace(".", "/")]
        sys.modules.setdefault(package.__name__, package)
    try:
        return importlib.import_module(
            "tensorflow_gan.python.eval.classifier_metrics"
        )
    except ImportError:
        _fail("tensorflow-gan", "metrics that can be imported alone")


def _fail(package: str, missing: str) -> NoReturn:
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        version = "(not installed)"
    raise UserError(
        f"{package} {version} does not have {missing}; srmcmc_tf is tested "
        f"with {package} {TESTED[package]}"
    )

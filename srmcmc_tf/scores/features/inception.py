"""The Inception network of the original FID (2015-12-05), in TensorFlow.

Other Inception networks, Keras's included, give different values. Images are
uint8 and are resized to 299 as in TensorFlow 1, without half-pixel centers.
"""

import hashlib
import io
import logging
import os
import pathlib
import zipfile
from collections.abc import Callable, Mapping

import numpy as np
import tensorflow as tf
from google.protobuf import message

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import digests, npz, paths
from srmcmc_tf.scores.features import download
from srmcmc_tf.scores.features.network import Network, Outputs

logger = logging.getLogger(__name__)

_NAMES = {"fid": "fid", "kid": "kid", "is": "is"}


def load(path: str | os.PathLike[str] = "") -> Network:
    """Loads the network from any of three kinds of file.

    Args:
        path: the frozen graph `classify_image_graph_def.pb`, its archive
            `inception-2015-12-05.tgz`, or an npz with `NAME/weight` (HWIO),
            `NAME/beta`, `NAME/mean` and `NAME/var` of all 94 convolutions,
            which lacks the softmax layer. Empty: the archive, downloaded once.

    Raises:
        UserError: if the file is something else.
    """
    path = paths.expanded(path) if path else download.archive()
    try:
        paths.regular(path)
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    if zipfile.is_zipfile(io.BytesIO(content)):
        return _from_arrays(content, path)
    if content.startswith(b"\x1f\x8b"):
        content = download.graph(content, path)
    return _from_graph(content, path)


def _from_arrays(content: bytes, path: pathlib.Path) -> Network:
    try:
        arrays = npz.read(io.BytesIO(content))
        layers = _fold_batch_norm(arrays)
    except (ValueError, KeyError) as error:
        raise _wrong(path, error) from None

    def convolve(
        x: tf.Tensor, name: str, stride: int = 1, padding: str = "SAME"
    ) -> tf.Tensor:
        kernel, bias = layers[name]
        x = tf.nn.conv2d(x, kernel, stride, padding)
        return tf.nn.relu(tf.nn.bias_add(x, bias))

    def function(images: tf.Tensor) -> Outputs:
        x = tf.cast(images, tf.float32)
        x = tf.raw_ops.ResizeBilinear(images=x, size=[299, 299])
        return Outputs(_pool_3((x - 128.0) / 128.0, convolve), None)

    return _network(function, path, digests.of_arrays(arrays))


def _from_graph(content: bytes, path: pathlib.Path) -> Network:
    graph = tf.compat.v1.GraphDef()
    try:
        graph.ParseFromString(content)
    except message.DecodeError:
        raise _wrong(path, "neither a graph nor an npz") from None
    nodes = {node.name: node for node in graph.node}
    for name in ("ExpandDims", "pool_3"):
        if name not in nodes:
            raise _wrong(path, f"no tensor {name}:0")
    wanted = [n for n in ("pool_3", "softmax/weights") if n in nodes]
    graph = _modernize(graph, "ExpandDims")

    def function(images: tf.Tensor) -> Outputs:
        tensors = tf.graph_util.import_graph_def(
            graph,
            input_map={"ExpandDims:0": tf.cast(images, tf.float32)},
            return_elements=[f"{name}:0" for name in wanted],
        )
        features = tf.squeeze(tensors[0], [1, 2])
        # Without the bias, as in the program that introduced the score.
        logits = [tf.matmul(features, weights) for weights in tensors[1:]]
        return Outputs(features, logits[0] if logits else None)

    if hashlib.md5(content).hexdigest() != download.MD5:
        logger.warning(
            "warning: %s is not the published graph of 2015: its values "
            "cannot be compared with the literature",
            path,
        )
    digest = digests.of_arrays({"graph": np.frombuffer(content, "u1")})
    return _network(function, path, digest)


def _modernize(
    graph: tf.compat.v1.GraphDef, start: str
) -> tf.compat.v1.GraphDef:
    """A copy of a graph of 2015 that current TensorFlow can run.

    Its batch normalization op is not allowed in functions, so it is replaced
    by current ops. Node `start` becomes a placeholder: what comes before it
    decodes a JPEG.
    """
    new = tf.compat.v1.GraphDef()

    def add(op: str, name: str, *inputs: str) -> str:
        node = new.node.add(op=op, name=name, input=inputs)
        key = "dtype" if op in ("Const", "Placeholder") else "T"
        node.attr[key].type = tf.float32.as_datatype_enum
        return name

    for node in graph.node:
        name = node.name
        if name == start:
            add("Placeholder", name)
        elif node.op == "BatchNormWithGlobalNormalization":
            x, mean, variance, beta, gamma = node.input
            epsilon = add("Const", f"{name}/epsilon")
            value = tf.make_tensor_proto(node.attr["variance_epsilon"].f)
            new.node[-1].attr["value"].tensor.CopyFrom(value)
            variance = add("AddV2", f"{name}/variance", variance, epsilon)
            scale = add("Rsqrt", f"{name}/scale", variance)
            if node.attr["scale_after_normalization"].b:
                scale = add("Mul", f"{name}/scaled", scale, gamma)
            shift = add("Mul", f"{name}/shift", mean, scale)
            bias = add("Sub", f"{name}/bias", beta, shift)
            product = add("Mul", f"{name}/product", x, scale)
            add("BiasAdd", name, product, bias)
        else:
            new.node.add().CopyFrom(node)
    return new


def _network(
    function: Callable[[tf.Tensor], Outputs], path: pathlib.Path, digest: str
) -> Network:
    """Compiles `function` at once, so that a wrong file is reported early."""
    images = tf.TensorSpec([None, None, None, 3], tf.uint8)
    compiled = tf.function(function, input_signature=[images])
    try:
        outputs = compiled.get_concrete_function().structured_outputs
    except (ValueError, KeyError, tf.errors.OpError) as error:
        raise _wrong(path, error) from None
    features = outputs.features.shape[1]
    classes = 0 if outputs.logits is None else outputs.logits.shape[1]
    return Network(
        "inception2015", str(path), digest, features, classes, _NAMES, compiled
    )


def _wrong(path: pathlib.Path, reason: object) -> UserError:
    reason = str(reason).strip().splitlines()[0][:100]
    return UserError(
        f"{path} is not the Inception network of 2015 ({reason}): "
        f"give {download.GRAPH}, its archive {download.ARCHIVE}, or an npz "
        "of its weights"
    )


def _fold_batch_norm(
    arrays: Mapping[str, np.ndarray],
) -> dict[str, tuple[tf.Tensor, tf.Tensor]]:
    """Kernel and bias of each layer, with its batch normalization included.

    They are tensors because arrays would become constants of the graph, which
    is no faster and takes 700 MB more.
    """
    layers = {}
    for name in [k.removesuffix("/weight") for k in arrays if "/weight" in k]:
        scale = 1 / np.sqrt(arrays[f"{name}/var"].astype(float) + 1e-3)
        kernel = arrays[f"{name}/weight"].astype(float) * scale
        bias = arrays[f"{name}/beta"] - arrays[f"{name}/mean"] * scale
        layers[name] = tf.cast(kernel, tf.float32), tf.cast(bias, tf.float32)
    return layers


def _pool_3(x: tf.Tensor, convolve: Callable[..., tf.Tensor]) -> tf.Tensor:
    """Images [n, 299, 299, 3] in [-1, 1] to features [n, 2048]."""

    def tower(x: tf.Tensor, *names: str) -> tf.Tensor:
        for name in names:
            x = convolve(x, name)
        return x

    def shrink(x: tf.Tensor) -> tf.Tensor:
        return tf.nn.max_pool2d(x, 3, 2, "VALID")

    def average(x: tf.Tensor) -> tf.Tensor:  # excludes the padding
        return tf.nn.avg_pool2d(x, 3, 1, "SAME")

    x = convolve(x, "conv", 2, "VALID")
    x = convolve(x, "conv_1", 1, "VALID")
    x = shrink(convolve(x, "conv_2"))
    x = convolve(x, "conv_3", 1, "VALID")
    x = shrink(convolve(x, "conv_4", 1, "VALID"))
    for m in ("mixed", "mixed_1", "mixed_2"):
        a, b = f"{m}/tower/conv", f"{m}/tower_1/conv"
        branches = [
            convolve(x, f"{m}/conv"),
            tower(x, a, f"{a}_1"),
            tower(x, b, f"{b}_1", f"{b}_2"),
            convolve(average(x), f"{m}/tower_2/conv"),
        ]
        x = tf.concat(branches, axis=3)
    a = "mixed_3/tower/conv"
    branches = [
        convolve(x, "mixed_3/conv", 2, "VALID"),
        convolve(tower(x, a, f"{a}_1"), f"{a}_2", 2, "VALID"),
        shrink(x),
    ]
    x = tf.concat(branches, axis=3)
    for m in ("mixed_4", "mixed_5", "mixed_6", "mixed_7"):
        a, b = f"{m}/tower/conv", f"{m}/tower_1/conv"
        branches = [
            convolve(x, f"{m}/conv"),
            tower(x, a, f"{a}_1", f"{a}_2"),
            tower(x, b, *(f"{b}_{i}" for i in range(1, 5))),
            convolve(average(x), f"{m}/tower_2/conv"),
        ]
        x = tf.concat(branches, axis=3)
    a, b = "mixed_8/tower/conv", "mixed_8/tower_1/conv"
    branches = [
        convolve(convolve(x, a), f"{a}_1", 2, "VALID"),
        convolve(tower(x, b, f"{b}_1", f"{b}_2"), f"{b}_3", 2, "VALID"),
        shrink(x),
    ]
    x = tf.concat(branches, axis=3)
    for m in ("mixed_9", "mixed_10"):
        a = convolve(x, f"{m}/tower_conv")
        b = tower(x, f"{m}/tower_1_conv", f"{m}/tower_1_conv_1")
        # Maximum pooling at the end is a slip of the original, and part of FID.
        last = (
            average(x) if m == "mixed_9" else tf.nn.max_pool2d(x, 3, 1, "SAME")
        )
        branches = [
            convolve(x, f"{m}/conv"),
            convolve(a, f"{m}/tower_mixed_conv"),
            convolve(a, f"{m}/tower_mixed_conv_1"),
            convolve(b, f"{m}/tower_1_mixed_conv"),
            convolve(b, f"{m}/tower_1_mixed_conv_1"),
            convolve(last, f"{m}/tower_2_conv"),
        ]
        x = tf.concat(branches, axis=3)
    return tf.reduce_mean(x, axis=[1, 2])

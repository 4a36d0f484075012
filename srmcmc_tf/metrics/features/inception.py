"""The Inception network of the original FID (2015-12-05), as TensorFlow.

Other Inceptions, that of Keras among them, give other values. Images go in as
uint8 and are resized to 299 as TensorFlow 1 did, without half-pixel centres.
"""

import hashlib
import io
import pathlib
import sys
import zipfile

import numpy as np
import tensorflow as tf
from google.protobuf import message

from srmcmc_tf.distribution import replicas, strategies
from srmcmc_tf.errors import UserError
from srmcmc_tf.files import npz
from srmcmc_tf.metrics.features import download
from srmcmc_tf.metrics.features.network import Network, Seen, digest

_NAMES = {"fid": "fid", "kid": "kid", "is": "is"}


def load(path=""):
    """The network, from any of three kinds of file.

    Args:
        path: the frozen graph `classify_image_graph_def.pb`, its archive
            `inception-2015-12-05.tgz`, or an npz with `NAME/weight` (HWIO),
            `NAME/beta`, `NAME/mean` and `NAME/var` of all 94 convolutions,
            which lacks the softmax layer. Empty: the archive, downloaded once.

    Returns:
        A `Network`; `UserError` where the file is something else.
    """
    path = pathlib.Path(path).expanduser() if path else download.archive()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"--inception={path}: {error.strerror}") from None
    if zipfile.is_zipfile(io.BytesIO(content)):
        return _of_arrays(content, path)
    if content.startswith(b"\x1f\x8b"):
        content = download.graph(content, path)
    return _of_graph(content, path)


def _of_arrays(content, path):
    try:
        with np.load(io.BytesIO(content)) as archive:
            arrays = dict(archive)
        layers = _fold(arrays)
    except (*npz.DAMAGED, KeyError) as error:
        raise _wrong(path, error) from None

    def convolve(x, name, stride=1, padding="SAME"):
        kernel, bias = layers[name]
        x = tf.nn.conv2d(x, kernel, stride, padding)
        return tf.nn.relu(tf.nn.bias_add(x, bias))

    def see(images):
        x = tf.cast(images, tf.float32)
        x = tf.raw_ops.ResizeBilinear(images=x, size=[299, 299])
        return Seen(_pool_3((x - 128.0) / 128.0, convolve), None)

    return _network(see, path, digest(arrays))


def _of_graph(content, path):
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
    graph = _renew(graph, "ExpandDims")

    def see(images):
        tensors = tf.graph_util.import_graph_def(
            graph,
            input_map={"ExpandDims:0": tf.cast(images, tf.float32)},
            return_elements=[f"{name}:0" for name in wanted],
        )
        features = tf.squeeze(tensors[0], [1, 2])
        # Without the bias, as the score was defined by its first program.
        logits = [tf.matmul(features, weights) for weights in tensors[1:]]
        return Seen(features, logits[0] if logits else None)

    if hashlib.md5(content).hexdigest() != download.MD5:
        print(
            f"warning: {path} is not the graph of 2015 as it was published: "
            "its values are not those of the literature",
            file=sys.stderr,
        )
    return _network(see, path, digest({"graph": np.frombuffer(content, "u1")}))


def _renew(graph, start):
    """A graph of 2015 for the TensorFlow of today, from `start` on.

    Its batch normalisation is an op that functions refuse; what comes before
    `start` decodes a JPEG.
    """
    new = tf.compat.v1.GraphDef()

    def add(op, name, *inputs):
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


def _network(see, path, name):
    """Compiles `see` now, so that a wrong file is told at once."""
    images = tf.TensorSpec([None, None, None, 3], tf.uint8)
    see = tf.function(see, input_signature=[images])
    try:
        seen = see.get_concrete_function().structured_outputs
    except (ValueError, KeyError, tf.errors.OpError) as error:
        raise _wrong(path, error) from None
    features = seen.features.shape[1]
    classes = 0 if seen.logits is None else seen.logits.shape[1]
    shared = replicas.share_rows(strategies.local(), lambda rows: see(*rows))
    return Network(
        "inception2015",
        str(path),
        name,
        features,
        classes,
        _NAMES,
        lambda images: shared([images]),
    )


def _wrong(path, reason):
    reason = str(reason).strip().splitlines()[0][:100]
    return UserError(
        f"--inception={path} is not the Inception network of 2015 ({reason}): "
        f"give {download.GRAPH}, its archive {download.ARCHIVE}, or an npz "
        "of its weights"
    )


def _fold(arrays):
    """Kernel and bias of each layer, with its batch normalisation in them.

    Tensors, because arrays would become constants of the graph: no faster,
    and 700 MB more.
    """
    layers = {}
    for name in [k.removesuffix("/weight") for k in arrays if "/weight" in k]:
        scale = 1 / np.sqrt(arrays[f"{name}/var"].astype(float) + 1e-3)
        kernel = arrays[f"{name}/weight"].astype(float) * scale
        bias = arrays[f"{name}/beta"] - arrays[f"{name}/mean"] * scale
        layers[name] = tf.cast(kernel, tf.float32), tf.cast(bias, tf.float32)
    return layers


def _pool_3(x, convolve):
    """Images [n, 299, 299, 3] about [-1, 1] to features [n, 2048]."""

    def tower(x, *names):
        for name in names:
            x = convolve(x, name)
        return x

    def shrink(x):
        return tf.nn.max_pool2d(x, 3, 2, "VALID")

    def average(x):  # leaves the padding out of its means
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
        # The last one's is the original's own slip, and part of FID.
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

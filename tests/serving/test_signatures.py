import functools

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2

from srmcmc_tf import ShortRunEBM
from srmcmc_tf.models import energies
from srmcmc_tf.serving import signatures

IMAGES = np.zeros([2, 8, 8, 1], np.float32)
PNG = tf.io.encode_png(tf.zeros([8, 8, 1], tf.uint8)).numpy()
GOOD = {
    "sample": {"seeds": np.int64([1, 2]), "K": np.int32(3)},
    "interpolate": {
        "seeds_1": np.int64([1, 2]),
        "seeds_2": np.int64([3, 4]),
        "rho": np.float32([0.0, 0.5]),
    },
    "reconstruct": {"images": IMAGES, "iterations": np.int32(1)},
    "energy": {"images": IMAGES},
    "energy_uint8": {"images_uint8": IMAGES.astype(np.uint8)},
    "energy_png": {"png_bytes": np.array([PNG], object)},
}


def pixel(value):
    images = IMAGES.copy()
    images[1, 2, 3, 0] = value
    return images


BAD = [
    ("sample", "seeds", np.zeros([0], np.int64)),
    ("sample", "seeds", np.zeros([65], np.int64)),
    ("sample", "seeds", np.zeros([2, 2], np.int64)),
    ("sample", "seeds", np.int64(2)),
    ("sample", "K", np.int32(-1)),
    ("sample", "K", np.int32(11)),
    ("sample", "K", np.int32([3])),
    ("interpolate", "seeds_1", np.zeros([0], np.int64)),
    ("interpolate", "seeds_2", np.int64([3])),
    ("interpolate", "rho", np.float32([])),
    ("interpolate", "rho", np.float32([0.5, 1.1])),
    ("interpolate", "rho", np.float32([0.5, np.nan])),
    ("interpolate", "rho", np.zeros([33], np.float32)),
    ("reconstruct", "images", np.zeros([2, 4, 4, 1], np.float32)),
    ("reconstruct", "images", pixel(np.nan)),
    ("reconstruct", "iterations", np.int32(201)),
    ("reconstruct", "iterations", np.int32(-1)),
    ("energy", "images", np.zeros([0, 8, 8, 1], np.float32)),
    ("energy", "images", np.zeros([65, 8, 8, 1], np.float32)),
    ("energy", "images", np.zeros([2, 16, 16, 1], np.float32)),
    ("energy", "images", np.zeros([8, 8, 1], np.float32)),
    ("energy", "images", np.float32(0)),
    ("energy", "images", pixel(np.nan)),
    ("energy", "images", pixel(-np.inf)),
    ("energy", "images", pixel(255)),
    ("energy_uint8", "images_uint8", np.zeros([2, 8, 8, 3], np.uint8)),
    ("energy_png", "png_bytes", np.array([b""], object)),
    ("energy_png", "png_bytes", np.array([b"GIF89a"], object)),
    ("energy_png", "png_bytes", np.array([PNG, PNG[:-20]], object)),
    (
        "energy_png",
        "png_bytes",
        np.array([tf.io.encode_png(tf.zeros([16, 8, 1], tf.uint8)).numpy()]),
    ),
]


@pytest.fixture(scope="module")
def session(exported):
    """Signatures through the loader of a server, without Python's checks."""
    path = str(exported[0] / "export" / "1")
    with tf.Graph().as_default():
        session = tf.compat.v1.Session()
        meta = tf.compat.v1.saved_model.load(session, ["serve"], path)

    @functools.cache
    def function(name):
        definition = meta.signature_def[name]
        options = config_pb2.CallableOptions()
        options.feed.extend(definition.inputs[key].name for key in GOOD[name])
        options.fetch.extend(o.name for o in definition.outputs.values())
        return session._make_callable_from_options(options)

    return lambda name, inputs: function(name)(*inputs.values())


@pytest.mark.parametrize("name, key, value", BAD)
def test_bad_input_is_an_error_that_names_it(session, name, key, value):
    with pytest.raises(tf.errors.InvalidArgumentError, match=key):
        session(name, {**GOOD[name], key: value})


@pytest.mark.parametrize("name", GOOD)
def test_good_input_is_answered_by_finite_numbers(session, name):
    for output in session(name, GOOD[name]):
        if output.dtype != object:
            assert np.isfinite(output).all()


def test_a_chain_that_explodes_is_an_error_and_no_nan(monkeypatch):
    network = energies.convnet(8, 1, n_f=4)
    for variable in network.variables:
        variable.assign(1e14 * variable)
    model = ShortRunEBM(network, K=3)
    assert not np.isfinite(model.sample([1])).all()
    limits = signatures.default_limits(model)
    some = {n: signatures.SIGNATURES[n] for n in ("sample", "energy")}
    monkeypatch.setattr(signatures, "SIGNATURES", some)
    sample = signatures.build(model, limits)["sample"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="K leads to"):
        sample(tf.constant([1], tf.int64), tf.constant(3))


def test_nothing_is_computed_before_the_check(session):
    """Otherwise two thousand million steps would be on their way."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="K must be"):
        session("sample", {**GOOD["sample"], "K": np.int32(2**31 - 1)})


def test_inputs_are_named_and_ordered_as_in_the_table(tiny_model, monkeypatch):
    some = {n: signatures.SIGNATURES[n] for n in ("interpolate", "energy")}
    monkeypatch.setattr(signatures, "SIGNATURES", some)
    limits = signatures.default_limits(tiny_model)
    functions = signatures.build(tiny_model, limits)
    assert list(functions) == ["serving_default", "interpolate", "energy"]
    for name, signature in some.items():
        specs = signatures.input_specs(functions[name])
        assert tuple(specs) == signature.inputs

"""A model of two stages, saved as a .keras file and served from it."""

import functools
import os
import subprocess
import sys

import numpy as np
import pytest
from helpers import call, random_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.serving import served, signatures

# Runs where srmcmc_tf cannot be imported.
NEW_PROCESS = """
import pathlib
import sys
sys.modules["srmcmc_tf"] = None
import numpy as np
import tensorflow as tf

version, folder = sys.argv[1:]
loaded = tf.saved_model.load(version).signatures
for path in list(pathlib.Path(folder).glob("*.npz")):
    inputs = dict(np.load(path))
    function = loaded[str(inputs.pop("name"))]
    outputs = function(**{k: tf.constant(v) for k, v in inputs.items()})
    outputs = {k: v.numpy() for k, v in outputs.items()}
    np.savez(f"{folder}/{path.stem}-out", **outputs)
"""


@pytest.fixture(scope="module")
def model():
    stages = [
        srmcmc_tf.Stage(srmcmc_tf.energies.pooled(size, channels=1, n_f=4), K=K)
        for size, K in ((8, 3), (16, 2))
    ]
    model = srmcmc_tf.ShortRunEBM(stages)
    model.compile()
    return model


def requests(model):
    """Inputs, and a function to the outputs by the Python methods."""
    x = pixels.to_float(random_images(2, size=16))
    seeds = np.int64([4, -5])
    found = functools.partial(model.reconstruct, x, iterations=3)
    # K within the first stage, within the second, and beyond it.
    samples = {
        f"sample {K}": (
            {"seeds": seeds, "K": np.int32(K)},
            lambda K=K: {"images": model.sample(seeds, K=K)},
        )
        for K in (0, 2, 4, 7)
    }
    return {
        **samples,
        "sample_default": (
            {"seeds": seeds},
            lambda: {"images": model.sample(seeds)},
        ),
        "interpolate": (
            {
                "seeds_1": np.int64([1]),
                "seeds_2": np.int64([2]),
                "rho": np.float32([1.0, 0.6]),
            },
            lambda: {
                "images": model.interpolate(
                    model.start([1]), model.start([2]), [1.0, 0.6]
                )
            },
        ),
        "reconstruct": (
            {"images": x.numpy(), "iterations": np.int32(3)},
            lambda: {"images": found().x, "mse": found().mse[-1]},
        ),
        "energy": ({"images": x.numpy()}, lambda: {"f": model(x)[:, 0]}),
    }


@pytest.mark.parametrize(
    "names",
    [
        ("sample", "energy"),
        pytest.param(
            ("interpolate", "reconstruct", "energy"), marks=pytest.mark.slow
        ),
    ],
)
def test_a_model_file_of_two_stages_is_served_with_the_same_bits(
    model, names, tmp_path, monkeypatch
):
    some = {name: signatures.SIGNATURES[name] for name in names}
    monkeypatch.setattr(signatures, "SIGNATURES", some)
    model.save(tmp_path / "model.keras")
    code, out, err = call("export", f"--model_file={tmp_path / 'model.keras'}")
    assert code == 0, err
    version = out.strip()
    loaded = served.load(version)
    assert loaded.card["K"] == 5 and loaded.card["image"] == [16, 16, 1]

    asked = {
        name: both
        for name, both in requests(model).items()
        if name.startswith(names)
    }
    for i, (name, (inputs, _)) in enumerate(asked.items()):
        np.savez(tmp_path / f"{i}.npz", name=name.split()[0], **inputs)
    done = subprocess.run(
        [sys.executable, "-I", "-c", NEW_PROCESS, version, tmp_path],
        capture_output=True,
        text=True,
        env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": "1"},
    )
    assert done.returncode == 0, done.stderr
    for i, (name, (_, expected)) in enumerate(asked.items()):
        outputs = np.load(tmp_path / f"{i}-out.npz", allow_pickle=True)
        for key, value in expected().items():
            # Of a graph, TensorFlow multiplies the two constant factors of a
            # step of the descent first.
            atol = 1e-6 if name == "reconstruct" else 0
            np.testing.assert_allclose(outputs[key], value, 0, atol)

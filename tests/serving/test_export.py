import json
import os
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import ROOT, random_images

from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.run import Run
from srmcmc_tf.serving import export, model_card, signatures, versions

# Runs where srmcmc_tf cannot be imported: every signature by TensorFlow 2 and
# by a version-1 session, two of them by `saved_model_cli run`.
RELOAD = """
import sys
sys.modules["srmcmc_tf"] = None
import numpy as np
import tensorflow as tf
from tensorflow.python.tools import saved_model_cli

model, folder = sys.argv[1:]
names = np.load(f"{folder}/names.npy")
loaded = tf.saved_model.load(model)
session = tf.compat.v1.Session(graph=tf.Graph())
with session.graph.as_default():
    meta = tf.compat.v1.saved_model.load(session, ["serve"], model)
for name in names:
    inputs = dict(np.load(f"{folder}/{name}.npz"))
    tensors = {k: tf.constant(v) for k, v in inputs.items()}
    outputs = loaded.signatures[name](**tensors)
    outputs = {k: v.numpy() for k, v in outputs.items()}
    np.savez(f"{folder}/{name}-tf2.npz", **outputs)

    # These two use the defaults in the signature that has them.
    full = "sample" if name == "sample_default" else name
    definition = meta.signature_def[full]
    feeds = {definition.inputs[k].name: v for k, v in inputs.items()}
    fetches = {k: v.name for k, v in definition.outputs.items()}
    np.savez(f"{folder}/{name}-tf1.npz", **session.run(fetches, feeds))

    if name not in ("sample_default", "reconstruct_png"):
        continue
    given = [f"{k}={folder}/{name}.npz[{k}]" for k in inputs]
    sys.argv = ["saved_model_cli", "run", "--dir", model, "--tag_set", "serve",
                "--signature_def", full, "--inputs", ";".join(given),
                "--outdir", f"{folder}/{name}-cli", "--overwrite"]
    try:
        saved_model_cli.main()
    except SystemExit as end:
        assert not end.code, end
"""


def requests(model):
    """For every signature: inputs, and the outputs by the Python methods."""
    uint8 = random_images(3)
    x = pixels.to_float(uint8)
    files = np.array([f.numpy() for f in map(tf.io.encode_png, uint8)])
    forms = {
        "": {"images": x.numpy()},
        "_uint8": {"images_uint8": uint8},
        "_png": {"png_bytes": files},
    }
    seeds_1, seeds_2, rho = [1, 2], [3, -4], [1.0, 0.6, 0.0]
    found = model.reconstruct(x, iterations=7)
    yield (
        "sample",
        {"seeds": np.int64([5, -6, 2**40]), "K": np.int32(4)},
        images(model.sample([5, -6, 2**40], K=4)),
    )
    yield (
        "sample_default",
        {"seeds": np.int64([7, 8])},
        images(model.sample([7, 8])),
    )
    yield (
        "interpolate",
        {
            "seeds_1": np.int64(seeds_1),
            "seeds_2": np.int64(seeds_2),
            "rho": np.float32(rho),
        },
        images(
            model.interpolate(model.start(seeds_1), model.start(seeds_2), rho)
        ),
    )
    for form, given in forms.items():
        f = {"f": model(x)[:, 0]}
        yield f"energy{form}", given, f
        yield (
            f"reconstruct{form}",
            {**given, "iterations": np.int32(7)},
            {**images(found.x), "mse": found.mse[-1]},
        )
    yield "serving_default", forms[""], f


def images(x):
    return {"images": x, "images_uint8": pixels.to_uint8(x.numpy())}


def test_every_signature_gives_what_the_python_method_gives(exported, tmp_path):
    workdir, model = exported
    asked = list(requests(model))
    assert {name for name, _, _ in asked} == {
        *signatures.SIGNATURES,
        "serving_default",
        "sample_default",
    }
    np.save(tmp_path / "names.npy", [name for name, _, _ in asked])
    for name, inputs, _ in asked:
        np.savez(tmp_path / f"{name}.npz", **inputs)
    done = subprocess.run(
        [sys.executable, "-I", "-c", RELOAD, workdir / "export/1", tmp_path],
        capture_output=True,
        text=True,
        env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": "1"},
    )
    assert done.returncode == 0, done.stderr
    by_cli = set()
    for name, _, expected in asked:
        ways = {
            way: np.load(tmp_path / f"{name}-{way}.npz", allow_pickle=True)
            for way in ("tf2", "tf1")
        }
        if (tmp_path / f"{name}-cli").exists():
            ways["cli"] = {
                path.stem: np.load(path, allow_pickle=True)
                for path in (tmp_path / f"{name}-cli").iterdir()
            }
            by_cli.add(name)
        for outputs in ways.values():
            for key, value in expected.items():
                np.testing.assert_array_equal(outputs[key], value, strict=True)
            if "png_bytes" in outputs:
                check_files(outputs["png_bytes"], expected["images_uint8"])
    assert len(by_cli) == 2


def check_files(files, pixels):
    assert files.shape == pixels.shape[:-3]
    for file, expected in zip(
        files.ravel(), pixels.reshape(-1, *pixels.shape[-3:]), strict=True
    ):
        np.testing.assert_array_equal(tf.io.decode_png(file), expected)


def test_warm_up_requests_parse_and_replay(exported):
    prediction_log_pb2 = pytest.importorskip(
        "tensorflow_serving.apis.prediction_log_pb2"
    )
    path = exported[0] / "export/1"
    served = tf.saved_model.load(str(path)).signatures
    replayed = set()
    for record in tf.data.TFRecordDataset(str(path / export.WARM_UP)):
        log = prediction_log_pb2.PredictionLog.FromString(record.numpy())
        request = log.predict_log.request
        name = request.model_spec.signature_name
        tensors = {k: tf.make_ndarray(v) for k, v in request.inputs.items()}
        served[name](**{k: tf.constant(v) for k, v in tensors.items()})
        replayed.add(name)
    assert replayed == {*signatures.SIGNATURES, signatures.DEFAULT}


@pytest.fixture
def only_energy(monkeypatch):
    """Exports a single signature, because tracing all takes seconds."""
    some = {"energy": signatures.SIGNATURES["energy"]}
    monkeypatch.setattr(signatures, "SIGNATURES", some)


def test_versions_count_up_and_are_complete_or_absent(
    exported, only_energy, tmp_path, monkeypatch
):
    workdir, model = exported
    facts = model_card.facts(Run(workdir), model)
    (tmp_path / "9").mkdir()
    (tmp_path / ".9.0.srmcmc-tmp").mkdir()  # of an export that was killed
    assert export.write(tmp_path, model, facts) == tmp_path / "10"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["10", "9"]

    def full(directory, *_):
        assert directory.parent == tmp_path
        (directory / "half").write_text("")
        assert versions.numbers(tmp_path) == [9, 10]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(model_card, "write", full)
    with pytest.raises(UserError, match="No space left"):
        export.write(tmp_path, model, facts)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["10", "9"]


def test_nothing_follows_a_link_that_someone_prepared(
    exported, only_energy, tmp_path
):
    _, model = exported
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").write_text("kept")
    export_to = tmp_path / "export"
    export_to.mkdir()
    for name in ("1", ".2.0.srmcmc-tmp"):
        (export_to / name).symlink_to(other)
    facts = model_card.facts(Run(exported[0]), model)
    version = export.write(export_to, model, facts)
    assert version == export_to / "2" and not version.is_symlink()
    assert [p.name for p in other.iterdir()] == ["precious"]


def test_another_kind_of_model_is_refused(tmp_path):
    with pytest.raises(UserError, match="cannot export a Sequential"):
        export.write(tmp_path / "new", keras.Sequential(), {})
    assert not (tmp_path / "new").exists()


def test_without_its_package_there_is_no_warm_up(
    exported, only_energy, tmp_path, monkeypatch
):
    workdir, model = exported
    monkeypatch.setattr(export, "can_warm_up", lambda: False)
    facts = model_card.facts(Run(workdir), model)
    version = export.write(tmp_path, model, facts)
    assert not (version / "assets.extra").exists()
    assert (version / "saved_model.pb").exists()


def test_the_export_is_complete_and_nothing_else(exported):
    base = exported[0] / "export"
    assert [p.name for p in base.iterdir()] == ["1"]
    files = {p.relative_to(base / "1") for p in (base / "1").rglob("*")}
    names = {str(path) for path in files}
    assert {"saved_model.pb", "model_card.md", export.WARM_UP} <= names
    card = json.loads((base / "1" / "model_card.json").read_text())
    assert card["limits"] == {"batch": 64, "K": 10, "iterations": 200}
    assert str(ROOT) not in json.dumps(card)

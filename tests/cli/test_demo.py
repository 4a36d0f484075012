import sys

import numpy as np
import tensorflow as tf
from helpers import call

import srmcmc_tf.serving.http_server


def test_one_model_is_served(tmp_path):
    code, _, err = call("demo", "--export=x", "--workdir=y")
    assert code == 1 and "needs one of --export=DIR, --workdir=RUN" in err
    code, _, err = call("demo", f"--export={tmp_path}")
    assert code == 1 and f"{tmp_path} is not an export" in err


def test_a_port_is_a_number():
    code, _, err = call("demo", "--export=x", "--port=80000")
    assert code == 1 and "--port=80000: must be a whole number, 0 to" in err


def test_a_missing_package_is_an_error(monkeypatch):
    monkeypatch.delitem(sys.modules, "srmcmc_tf.serving.http_server")
    monkeypatch.delattr(srmcmc_tf.serving, "http_server")
    monkeypatch.setitem(sys.modules, "waitress.server", None)
    code, _, err = call("demo", "--export=x")
    assert code == 1 and "pip install 'srmcmc_tf[serve]'" in err


def test_a_preset_is_served(monkeypatch, tmp_path):
    def answer(self):  # one request in place of an endless loop
        sample = served[0].signatures["sample"].function
        x = sample(seeds=tf.constant([3], tf.int64), K=tf.constant(30))
        images.append(x["images"])

    served, images = [], []
    create = srmcmc_tf.serving.http_server.create
    monkeypatch.setattr(srmcmc_tf.serving.http_server.Server, "run", answer)
    monkeypatch.setattr(
        srmcmc_tf.serving.http_server,
        "create",
        lambda model, *where: served.append(model) or create(model, *where),
    )
    monkeypatch.chdir(tmp_path)
    code, out, err = call("demo", "--preset=digits", "--port=0")
    assert code == 0, err
    assert out.startswith("http://127.0.0.1:") and served[0].card["K"] == 30
    model = srmcmc_tf.load("preset:digits")
    np.testing.assert_allclose(images[0], model.sample(seeds=[3]), atol=1e-4)
    assert not list(tmp_path.iterdir())

import sys

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

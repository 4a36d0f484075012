"""The scripts of docs/examples run, in small."""

import importlib.util

import numpy as np
import pytest
from helpers import ROOT


@pytest.fixture(autouse=True)
def without_a_display(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")


def script(name):
    path = ROOT / "docs" / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_picture(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_inverse_optimal_control_moves_the_weights_to_those_of_the_cost(
    tmp_path,
):
    control = script("inverse_optimal_control")
    small = ["--demonstrations=512", "--epochs=15", "--K=30"]
    found = control.main([*small, f"--out={tmp_path / 'control.png'}"])
    # The weight of the velocity is right from the start.
    before, after = (np.abs(w - control.TRUE)[[0, 2]] for w in (1.0, found))
    assert (after < 0.8 * before).all()
    assert is_picture(tmp_path / "control.png")


def test_demonstrations_follow_the_boltzmann_density_of_the_cost():
    control = script("inverse_optimal_control")
    G, g = control.system()
    mean, precision = control.gaussian(control.TRUE)
    data = control.demonstrate(20_000)
    np.testing.assert_allclose(data.mean(0), mean, atol=0.02)
    np.testing.assert_allclose(
        np.cov(data.T), np.linalg.inv(precision), atol=0.02
    )
    states = control.energy().layers[1](mean[None]).numpy()[0]
    np.testing.assert_allclose(states, G @ mean + g, atol=1e-5)
    p, v = 1.0, 0.0  # step by step
    for t, u in enumerate(mean):
        p += control.DT * v + 0.5 * control.DT**2 * u
        v += control.DT * u
        np.testing.assert_allclose(
            states[[t, control.T + t]], [p, v], atol=1e-5
        )


@pytest.mark.parametrize(
    "small",
    [
        ["--size=28", "--large=32"],
        ["--backbone=preset:digits", "--size=8", "--large=16"],
    ],
    ids=["frame", "deep_frame"],
)
def test_a_texture_is_learned_and_drawn(tmp_path, monkeypatch, small):
    texture = script("texture")
    monkeypatch.setitem(texture.CHAIN, "K", 2)
    out = f"--out={tmp_path / 'texture.png'}"
    gap = texture.main([*small, "--epochs=1", out])
    assert len(gap) == 1 and np.isfinite(gap).all()
    assert is_picture(tmp_path / "texture.png")

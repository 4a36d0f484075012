"""The verbs that use a trained run."""

import json

import numpy as np
import pytest
import tensorflow as tf
from helpers import call, flags, random_images, write_images
from PIL import Image

from srmcmc_tf.cli.flags import integer, integers
from srmcmc_tf.errors import UserError
from srmcmc_tf.generation import sample_file
from srmcmc_tf.models import energies
from srmcmc_tf.runs.run import Run


@pytest.fixture(scope="module")
def workdir(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "tiny"
    code, _, err = call("train", f"--workdir={path}", *flags())
    assert code == 0, err
    return path


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("5", [5]),
        ("0-3", [0, 1, 2, 3]),
        ("1,2,7-9", [1, 2, 7, 8, 9]),
        ("0,20,...,100", [0, 20, 40, 60, 80, 100]),
    ],
)
def test_lists_of_numbers(text, numbers):
    assert integers("K")(text) == numbers


def test_one_number_is_not_a_list():
    assert integer("n", 1, 9)("7") == 7
    for text in ("0", "10", "1-3", "two", ""):
        with pytest.raises(UserError, match="a whole number, 1 to 9"):
            integer("n", 1, 9)(text)


@pytest.mark.parametrize("text", ["", "a", "3-", "...,5", "0,...", "-4", "9-2"])
def test_wrong_lists_of_numbers_are_explained(text):
    with pytest.raises(UserError, match="must be whole numbers"):
        integers("K")(text)


def test_samples_are_those_of_the_model(workdir, tmp_path):
    out = tmp_path / "out"
    code, _, err = call(
        "sample",
        f"--workdir={workdir}",
        "--seeds=3-9",
        f"--out={out}",
        "--singles",
    )
    assert code == 0, err
    model = Run(workdir).load_model()
    arrays = np.load(out / "samples.npz")
    assert arrays["x"].dtype == np.float32 and list(arrays["seeds"]) == [
        *range(3, 10)
    ]
    np.testing.assert_allclose(
        arrays["x"], model.sample(range(3, 10)), atol=1e-5
    )
    np.testing.assert_array_equal(arrays["z"], model.start(range(3, 10)))
    assert (
        len(list(out.glob("seed_*.png"))) == 7 and (out / "grid.png").exists()
    )


def test_an_interrupted_call_goes_on_where_it_stopped(tmp_path):
    calls = []

    def draw(some):
        if len(calls) == 2:
            calls.append("stop")
            raise KeyboardInterrupt
        calls.append(some)
        x = np.float32(some).reshape(-1, 1)
        return x, -x

    ask = (tmp_path / "s.npz", draw, list(range(10)), (1,), {"K": 3}, 4)
    with pytest.raises(KeyboardInterrupt):
        sample_file.write(*ask)
    sample_file.write(*ask)
    assert calls == [[0, 1, 2, 3], [4, 5, 6, 7], "stop", [8, 9]]
    arrays = np.load(tmp_path / "s.npz")
    np.testing.assert_array_equal(arrays["x"].ravel(), range(10))
    np.testing.assert_array_equal(arrays["z"], -arrays["x"])
    assert [p.name for p in tmp_path.iterdir()] == ["s.npz"]


def test_a_part_of_another_request_is_thrown_away(tmp_path):
    def draw(some):
        return np.ones([len(some), 1]), np.ones([len(some), 1])

    (tmp_path / "s.part-0123").mkdir()
    sample_file.write(tmp_path / "s.npz", draw, [1, 2], (1,), {})
    assert [p.name for p in tmp_path.iterdir()] == ["s.npz"]


def test_several_K_make_a_table_with_its_saturation(workdir, tmp_path):
    code, out, err = call(
        "sample",
        f"--workdir={workdir}",
        "--seeds=0-3",
        "--K=0,2,...,6",
        f"--out={tmp_path}",
    )
    assert code == 0, err
    assert "| 0 | 0.00% |" in out and "| 6 |" in out
    assert (tmp_path / "K.png").exists()


def test_a_trace_is_a_strip_and_an_animation(workdir, tmp_path):
    code, _, err = call(
        "sample", f"--workdir={workdir}", "--trace", f"--out={tmp_path}"
    )
    assert code == 0, err
    assert Image.open(tmp_path / "trace.gif").n_frames == 4  # steps 0 to 3


def test_interpolation_is_written_with_its_smoothness(workdir, tmp_path):
    code, out, err = call(
        "interpolate",
        f"--workdir={workdir}",
        "--pairs=3",
        "--columns=5",
        f"--out={tmp_path}",
    )
    assert code == 0 and "largest jump" in out, err
    model = Run(workdir).load_model()
    arrays = np.load(tmp_path / "interpolation.npz")
    assert arrays["x"].shape == (3, 5, 8, 8, 1)
    ends = model.sample(range(6), noise=0.0)
    np.testing.assert_allclose(arrays["x"][:, 0], ends[::2], atol=1e-5)
    np.testing.assert_allclose(arrays["x"][:, -1], ends[1::2], atol=1e-5)


@pytest.mark.parametrize(
    "task",
    [["--task=whole"], ["--task=inpaint", "--mask=left"], ["--task=upscale"]],
)
def test_reconstruction_lowers_the_error(workdir, tmp_path, task):
    write_images(tmp_path / "images", random_images(3))
    code, _, err = call(
        "reconstruct",
        f"--workdir={workdir}",
        f"--images={tmp_path / 'images'}",
        "--iterations=20",
        f"--out={tmp_path}",
        *task,
    )
    assert code == 0, err
    name = task[0].removeprefix("--task=").replace("whole", "reconstruction")
    result = json.loads((tmp_path / f"{name}.json").read_text())
    assert result["n"] == 3 and result["range"] == "[-1, 1]"
    assert result["mse"] < result["mse_at_start"]
    assert result["loss_per_pixel"] < 0.1 * result["mse_at_start"]
    assert (tmp_path / f"{name}.png").exists()


@pytest.mark.parametrize(
    "name", ["sample", "interpolate", "reconstruct", "export"]
)
def test_verbs_explain_a_missing_run(name, tmp_path):
    for args in ([], [f"--workdir={tmp_path}"]):
        code, _, err = call(name, *args)
        assert code == 1 and len(err.splitlines()) == 1
        assert "--workdir" in err or "is no run" in err
    code, out, _ = call(name, "--help")
    assert code == 0 and "--workdir=RUN" in out


def numpy_chain(arrays, z, K):
    """The paper's network and its gradient in float64, written anew."""
    layers = [
        (
            arrays[f"{i:02d}/kernel"].astype(float),
            arrays[f"{i:02d}/bias"].astype(float),
        )
        for i in range(len(arrays) // 2)
    ]
    settings = [(1, 1)] + [(2, 1)] * (len(layers) - 2) + [(1, 0)]

    def windows(shape, kernel, stride, pad):
        size = kernel.shape[0]
        n = (shape[1] + 2 * pad - size) // stride + 1
        for i in range(size):
            for j in range(size):
                rows = slice(i, i + stride * n, stride)
                columns = slice(j, j + stride * n, stride)
                yield i, j, (slice(None), rows, columns)

    def gradient(x):
        shapes, masks = [], []
        for (kernel, bias), (stride, pad) in zip(layers, settings, strict=True):
            padded = np.pad(x, [(0, 0), (pad, pad), (pad, pad), (0, 0)])
            shapes.append(x.shape)
            x = bias + sum(
                padded[place] @ kernel[i, j]
                for i, j, place in windows(x.shape, kernel, stride, pad)
            )
            masks.append(np.where(x > 0, 1.0, 0.2))
            x = x * masks[-1]
        g = np.ones_like(x)  # of f, before the last activation
        for index in reversed(range(len(layers))):
            kernel, (stride, pad) = layers[index][0], settings[index]
            if index < len(layers) - 1:
                g = g * masks[index]
            n, h, w, c = shapes[index]
            back = np.zeros([n, h + 2 * pad, w + 2 * pad, c])
            for i, j, place in windows(shapes[index], kernel, stride, pad):
                back[place] += g @ kernel[i, j].T
            g = back[:, pad : pad + h, pad : pad + w]
        return g

    x = z.astype(float)
    for _ in range(K):
        x = x + gradient(x)
    return x


def test_the_chain_agrees_with_numpy_after_100_steps_at_32x32(tmp_path):
    from srmcmc_tf import ShortRunEBM

    network = energies.convnet(32, 3, n_f=8, seed=3)
    energies.save_weights(tmp_path / "w.npz", network)
    arrays = np.load(tmp_path / "w.npz")
    assert list(arrays)[:3] == ["00/kernel", "00/bias", "01/kernel"]
    model = ShortRunEBM(network, K=100, noise=0.0)
    z = model.start([1, 2])
    expected = numpy_chain(arrays, z.numpy(), 100)
    x = model.sample([1, 2]).numpy()
    assert np.abs(x - z).max() > 0.05
    np.testing.assert_allclose(x, expected, atol=1e-4)


def test_exported_weights_come_back(workdir, tmp_path):
    path = tmp_path / "w.npz"
    code, _, err = call(
        "export", f"--workdir={workdir}", "--format=npz", f"--out={path}"
    )
    assert code == 0, err
    run = Run(workdir)
    model, config = run.load_model(), run.config
    other = energies.convnet(8, 1, n_f=config.n_f, seed=99)
    energies.load_weights(path, other)
    x = tf.ones([2, 8, 8, 1])
    np.testing.assert_array_equal(other(x), model(x))

"""A model file in place of a run directory, in every command."""

import zipfile

import keras
import numpy as np
import pytest
from helpers import call, random_images, write_images

import srmcmc_tf
from srmcmc_tf.cli import demo
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import source
from srmcmc_tf.serving import versions


@pytest.fixture(scope="module")
def model():
    energy = srmcmc_tf.energies.convnet(8, channels=1, n_f=4)
    model = srmcmc_tf.ShortRunEBM(energy, K=3)
    model.compile()
    return model


@pytest.fixture(scope="module")
def file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "model.keras"
    model.save(path)
    return path


def run(command, file, *args):
    code, out, err = call(command, f"--model_file={file}", *args)
    assert code == 0, err
    return out


def fails(command, *args):
    code, _, err = call(command, *args)
    assert code == 1 and len(err.splitlines()) == 1, err
    return err


def test_samples_of_a_file_are_those_of_its_model(model, file):
    out = run("sample", file, "--seeds=3,4")
    written = file.with_suffix("") / "generated" / "samples.npz"
    assert str(written) in out
    with np.load(written) as arrays:
        np.testing.assert_array_equal(arrays["x"], model.sample([3, 4]))


def test_the_other_commands_take_a_file(
    file, few_signatures, classifiers, tmp_path
):
    folder = tmp_path / "images"
    write_images(folder, random_images(4))
    out = f"--out={tmp_path}"
    assert "straight line" in run("interpolate", file, "--pairs=1", out)
    images = f"--images={folder}"
    assert "n=4" in run("reconstruct", file, images, "--iterations=1", out)
    found = run("evaluate", file, f"--real={folder}", "--n=8", out)
    assert "n=8, against images, real, n=4" in found
    assert run("export", file, out).strip() == str(tmp_path / "1")
    card = (tmp_path / "1" / versions.CARD_MARKDOWN).read_text()
    assert "dataset: unknown" in card and "K = 3" in card


def test_a_file_is_served(model, file, few_signatures, monkeypatch):
    from srmcmc_tf.serving import http_server as serving

    seen = []
    monkeypatch.setattr(
        serving, "create", lambda served, *_: seen.append(served) or Server()
    )

    class Server:
        effective_port = 1

        def run(self):
            sample = seen[0].signatures["sample"].function
            found = sample(seeds=[5], K=3)["images"]
            np.testing.assert_allclose(found, model.sample([5]), atol=1e-6)

    assert demo.demo([f"--model_file={file}"]) == 0 and len(seen) == 1


def test_what_a_file_lacks_is_said_with_the_flag_that_gives_it(file, tiny_run):
    given = f"--model_file={file}"
    both = fails("sample", given, f"--workdir={tiny_run}")
    assert "give only one of --workdir, --model_file, --preset" in both
    neither = fails("export")
    assert "needs one of --workdir=RUN" in neither and "MODEL.keras" in neither
    assert "give --images=FOLDER" in fails("reconstruct", given)
    assert "--real=SET" in fails("evaluate", given)
    assert "--metrics=mse needs --workdir" in fails(
        "evaluate", given, f"--real={file}", "--metrics=mse"
    )
    assert "--best is for runs" in fails("sample", given, "--best")


def test_a_file_of_points_is_no_file_of_images(tmp_path):
    energy = srmcmc_tf.energies.mlp(2, n_f=4)
    model = srmcmc_tf.ShortRunEBM(energy, K=2)
    model.compile()
    model.save(tmp_path / "points.keras")
    given = f"--model_file={tmp_path / 'points.keras'}"
    assert "is for images" in fails("interpolate", given)


def test_what_is_no_file_of_ours_is_one_line(file, tmp_path):
    (tmp_path / "text.keras").write_text("no archive")
    with zipfile.ZipFile(tmp_path / "empty.keras", "w"):
        pass
    other = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
    other.save(tmp_path / "other.keras")
    deep = b"[" * 100_000  # damage of all kinds
    for i, content in enumerate([b"null", b'{"class_name": []}', deep]):
        with zipfile.ZipFile(tmp_path / f"{i}.keras", "w") as archive:
            archive.writestr("config.json", content)
    with zipfile.ZipFile(file) as archive, open(file, "rb") as whole:
        content = bytearray(whole.read())
        place = archive.getinfo("model.weights.h5").header_offset + 20_000
    content[place] ^= 1
    (tmp_path / "flip.keras").write_bytes(content)
    with pytest.raises(UserError, match=r"cannot load .*flip\.keras: Bad CRC"):
        srmcmc_tf.load(tmp_path / "flip.keras")
    content[6] |= 1  # encrypted
    (tmp_path / "encrypted.keras").write_bytes(
        content.replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1")
    )
    for name, text in (
        ("0.keras", "its content must be an object"),
        ("1.keras", "class_name must be text"),
        ("2.keras", "nested too deeply"),
        ("encrypted.keras", "encrypted"),
        ("none.keras", "no such model file"),
        ("none.h5", "its name ends in .keras"),
        ("text.keras", "is not a file of model.save"),
        ("empty.keras", "is not a file of model.save"),
        ("other.keras", "holds a Sequential, not one of ShortRunEBM"),
    ):
        with pytest.raises(UserError, match=text):
            source.ModelFile(tmp_path / name)
    with pytest.raises(UserError, match="holds a Sequential"):
        srmcmc_tf.load(tmp_path / "other.keras")

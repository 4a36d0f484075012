"""A directory in which what the documents say can be done."""

import shutil

import keras
import numpy as np
import pytest
from helpers import (
    call,
    graph_archive,
    random_images,
    small_graph,
    write_images,
)

import srmcmc_tf
from srmcmc_tf.scores.features import download
from srmcmc_tf.serving import signatures


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("docs_cache")


@pytest.fixture(autouse=True)
def cache(shared_cache, monkeypatch):
    """One cache for all documents: a classifier is trained once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))


@pytest.fixture(scope="session")
def project(tmp_path_factory, shared_cache):
    """A directory with what the documents name: runs, images, folders."""
    path = tmp_path_factory.mktemp("project")
    settings = dict(
        workdir=path / "runs" / "digits",
        updates=2,
        n_f=2,
        K=10,
        batch_size=4,
        n_left_out=4,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared_cache))
        flags = [f"--{name}={value}" for name, value in settings.items()]
        code, _, error = call("train", *flags)
        assert code == 0, error
        few = {n: signatures.SIGNATURES[n] for n in ("sample", "energy")}
        patch.setattr(signatures, "SIGNATURES", few)  # for the snippets
        for args in ([], ["--format=preset", f"--out={path / 'mine'}"]):
            code, _, error = call("export", flags[0], *args)
            assert code == 0, error
    shutil.copytree(path / "runs/digits/checkpoints", path / "runs/digits/best")
    (path / "RUN").symlink_to(settings["workdir"])
    (path / "runs" / "faces").symlink_to(settings["workdir"])
    for folder in ("FOLDER", "FACES", "PATH/bedroom_train_lmdb"):
        write_images(path / folder, random_images(10))
    np.savez(path / "samples.npz", x=random_images(10) / 127.5 - 1)
    np.save(path / "images.npy", random_images(64, 32, 3))
    np.savez(path / "images.npz", random_images(64, 32, 3))
    srmcmc_tf.load(settings["workdir"]).save(path / "digits.keras")
    layers = [
        keras.layers.Dense(3072, "tanh"),
        keras.layers.Reshape((32, 32, 3)),
    ]
    keras.Sequential([keras.Input([128]), *layers]).save(path / "gan.keras")
    archive = shared_cache / "srmcmc_tf" / download.ARCHIVE
    archive.parent.mkdir(exist_ok=True)
    archive.write_bytes(graph_archive(small_graph()[0]))
    return path


@pytest.fixture
def inside(project, monkeypatch):
    """Runs a test in that directory."""
    monkeypatch.chdir(project)
    return project

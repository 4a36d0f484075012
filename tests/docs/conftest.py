"""A directory in which what the documents say can be done."""

import shutil

import numpy as np
import pytest
from helpers import call, random_images, write_images


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
        code, _, error = call("export", flags[0])
        assert code == 0, error
    shutil.copytree(path / "runs/digits/checkpoints", path / "runs/digits/best")
    (path / "RUN").symlink_to(settings["workdir"])
    (path / "runs" / "faces").symlink_to(settings["workdir"])
    for folder in ("FOLDER", "FACES", "PATH/bedroom_train_lmdb"):
        write_images(path / folder, random_images(10))
    np.savez(path / "samples.npz", x=random_images(10) / 127.5 - 1)
    np.save(path / "images.npy", random_images(64, 32, 3))
    return path


@pytest.fixture
def inside(project, monkeypatch):
    """Runs a test in that directory."""
    monkeypatch.chdir(project)
    return project

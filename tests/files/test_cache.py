import pathlib

import pytest

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import cache


def test_the_cache_is_where_the_environment_says(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.cache_dir() == pathlib.Path("/somewhere/srmcmc_tf")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert cache.cache_dir() == pathlib.Path("/home/me/.cache/srmcmc_tf")


def test_without_a_home_the_error_says_what_to_set(monkeypatch):
    def unknown():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(pathlib.Path, "home", unknown)
    with pytest.raises(UserError, match="set HOME"):
        cache.cache_dir()

"""The cache is where the platform wants it."""

import pathlib

from srmcmc_tf.files import cache


def test_the_cache_follows_the_environment(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache.cache_dir() == pathlib.Path("/elsewhere/srmcmc_tf")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.cache_dir() == pathlib.Path.home() / ".cache/srmcmc_tf"

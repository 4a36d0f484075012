import pathlib

from srmcmc_tf.files import cache


def test_the_cache_is_where_the_environment_says(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.cache_dir() == pathlib.Path("/somewhere/srmcmc_tf")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert cache.cache_dir() == pathlib.Path("/home/me/.cache/srmcmc_tf")

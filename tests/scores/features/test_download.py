"""The download of Inception: checked, kept once, and complete or absent."""

import hashlib

import pytest
from helpers import graph_archive, small_graph
from loopback import Loopback

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import download as files_download
from srmcmc_tf.scores.features import download, inception


def test_a_download_is_checked_and_done_once(tmp_path, cache):
    content = small_graph()[0]
    path = tmp_path / "there.tgz"
    path.write_bytes(graph_archive(content))
    url, md5 = path.as_uri(), hashlib.md5(content).hexdigest()
    with pytest.raises(UserError, match="a different graph"):
        download.archive(url, "0" * 32)
    assert not [path for path in cache.rglob("*") if path.is_file()]
    kept = download.archive(url, md5)
    path.unlink()
    assert download.archive(url, md5) == kept
    assert inception.load(kept).features == 5


def test_an_interrupted_download_is_resumed_and_absent_until_complete(
    cache, monkeypatch
):
    monkeypatch.setattr(files_download, "_WAIT", 0.0)
    graph = small_graph()[0]
    content, md5 = graph_archive(graph), hashlib.md5(graph).hexdigest()
    server = Loopback(content, drops=[len(content) // 2] + 9 * [0])
    with server.running():
        with pytest.raises(UserError, match="connection closed after") as error:
            download.archive(server.url, md5)
        assert "\n" not in str(error.value)
        assert not list(cache.rglob(download.ARCHIVE))
        server.drops = []
        kept = download.archive(server.url, md5)
    assert kept.read_bytes() == content
    assert server.requests[-1] == f"bytes={len(content) // 2 - 1}-"
    kept.unlink()
    with pytest.raises(UserError, match="failed .* --inception=PATH"):
        download.archive(server.url)  # the server is gone

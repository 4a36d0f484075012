"""Downloads: resumed where they broke off, complete or absent."""

import os
import threading
import urllib.error

import numpy as np
import pytest
from loopback import Loopback

from srmcmc_tf.files import download

CONTENT = np.random.default_rng(0).bytes(300_000)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(download, "_WAIT", 0.0)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_dropped_connections_are_resumed(tmp_path):
    with Loopback(CONTENT, drops=[100_000, 50_000, 0]).running() as server:
        download.fetch(server.url, tmp_path / "x.zip")
    assert (tmp_path / "x.zip").read_bytes() == CONTENT
    assert server.requests == [
        None,
        "bytes=99999-",
        "bytes=149998-",
        "bytes=149998-",
    ]
    assert names(tmp_path) == ["x.zip"]


def test_a_later_call_resumes_and_one_after_that_does_nothing(tmp_path):
    path, seen = tmp_path / "x.zip", []
    with Loopback(CONTENT, drops=[100_000] + 9 * [0]).running() as server:
        with pytest.raises(OSError, match="closed after 99,999 of 300,000"):
            download.fetch(server.url, path)
        assert not path.exists() and len(server.requests) == 6
        server.drops = []
        download.fetch(server.url, path, announce=lambda *a: seen.append(a))
        download.fetch("http://127.0.0.1:1/", path)
    assert path.read_bytes() == CONTENT and seen == [(300_000, 99_999)]


def test_a_file_that_was_complete_but_not_named_is_not_downloaded_again(
    tmp_path, monkeypatch
):
    path = tmp_path / "x.zip"
    with Loopback(CONTENT).running() as server:
        with monkeypatch.context() as patch:
            patch.setattr(download.os, "replace", None)
            with pytest.raises(TypeError):
                download.fetch(server.url, path)
        download.fetch(server.url, path)
    assert path.read_bytes() == CONTENT
    assert server.requests == [None, "bytes=299999-"]


def test_a_file_that_changed_on_the_server_is_started_anew(tmp_path):
    path = tmp_path / "x.zip"
    with Loopback(CONTENT, drops=[100_000] + 9 * [0]).running() as server:
        with pytest.raises(OSError):
            download.fetch(server.url, path)
        server.content, server.tag, server.drops = CONTENT[::-1], '"2"', []
        download.fetch(server.url, path)
        assert path.read_bytes() == CONTENT[::-1]
        path.unlink()
        server.drops = [100_000] + 9 * [0]
        with pytest.raises(OSError):
            download.fetch(server.url, path)
        server.content, server.tag, server.drops = CONTENT[:50], '"3"', []
        download.fetch(server.url, path)
        assert path.read_bytes() == CONTENT[:50]
    assert names(tmp_path) == ["x.zip"]


def test_a_server_without_parts_is_asked_for_the_whole(tmp_path):
    server = Loopback(CONTENT, drops=[100_000], ranges=False)
    with server.running():
        download.fetch(server.url, tmp_path / "x.zip")
    assert (tmp_path / "x.zip").read_bytes() == CONTENT


def test_what_fails_the_check_is_not_kept(tmp_path):
    def check(path):
        assert path.read_bytes() == CONTENT
        raise ValueError("wrong")

    with Loopback(CONTENT).running() as server:
        with pytest.raises(ValueError, match="wrong"):
            download.fetch(server.url, tmp_path / "x.zip", check=check)
    assert names(tmp_path) == []


def test_no_network_and_refusals_fail_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(download.time, "sleep", None)
    with pytest.raises(OSError, match="refused"):
        download.fetch("http://127.0.0.1:1/x", tmp_path / "x.zip")
    server = Loopback(CONTENT)
    server.answer = lambda handler: handler.send_error(404)
    with server.running(), pytest.raises(urllib.error.HTTPError):
        download.fetch(server.url, tmp_path / "x.zip")
    assert names(tmp_path) == []


def test_a_link_in_the_place_of_the_part_is_not_followed(tmp_path):
    path, mine = tmp_path / "down" / "x.zip", tmp_path / "mine"
    path.parent.mkdir()
    mine.write_text("mine")
    with Loopback(CONTENT, drops=[1] + 9 * [0]).running() as server:
        with pytest.raises(OSError):
            download.fetch(server.url, path)
        (part,) = path.parent.iterdir()
        part.unlink()
        part.symlink_to(mine)
        with pytest.raises(OSError):
            download.fetch(server.url, path)
    assert mine.read_text() == "mine"


def test_only_one_downloads_to_a_directory(tmp_path):
    order = []

    def second():
        with download.exclusive(tmp_path / "new"):
            order.append("second")

    thread = threading.Thread(target=second)
    with download.exclusive(tmp_path / "new"):
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert os.listdir(tmp_path / "new") == []

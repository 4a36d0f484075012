"""The download of Inception: checked, kept once, and complete or absent."""

import hashlib
import http.server
import threading

import pytest
from helpers import graph_archive, small_graph

from srmcmc_tf.errors import UserError
from srmcmc_tf.scores.features import download, inception


def test_a_download_is_checked_and_done_once(tmp_path, cache):
    content = small_graph()[0]
    path = tmp_path / "there.tgz"
    path.write_bytes(graph_archive(content))
    url, md5 = path.as_uri(), hashlib.md5(content).hexdigest()
    with pytest.raises(UserError, match="a different graph"):
        download.archive(url, "0" * 32)
    assert not list(cache.rglob("*"))
    kept = download.archive(url, md5)
    path.unlink()
    assert download.archive(url, md5) == kept
    assert inception.load(kept).features == 5


@pytest.mark.parametrize(
    "header, message",
    [
        ("Content-Length", "connection closed after"),
        ("Transfer-Encoding", "IncompleteRead"),
    ],
)
def test_an_interrupted_download_leaves_nothing(header, message, cache):
    graph = small_graph()[0]
    content, md5 = graph_archive(graph), hashlib.md5(graph).hexdigest()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            if header == "Content-Length":
                self.send_header(header, str(2 * len(content)))
                self.end_headers()
                self.wfile.write(content)
            else:
                self.send_header(header, "chunked")
                self.end_headers()
                self.wfile.write(b"ffff\r\n" + content)

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.handle_request).start()
    url = f"http://127.0.0.1:{server.server_port}/x.tgz"
    with pytest.raises(UserError, match=message) as error:
        download.archive(url, md5)
    server.server_close()
    assert "\n" not in str(error.value) and not list(cache.rglob("*"))
    with pytest.raises(UserError, match="failed .* --inception=PATH"):
        download.archive(url)  # the server is gone

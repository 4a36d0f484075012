"""The network of FID: three kinds of file, and what is none of them."""

import hashlib
import http.server
import io
import tarfile
import threading

import numpy as np
import pytest
from helpers import SHARED, random_images, small_graph

from srmcmc_tf.errors import UserError
from srmcmc_tf.metrics.features import download, inception

WEIGHTS = SHARED / "data" / "inception_2015_pool3_float16.npz"


def archive(content, name=download.GRAPH):
    """The bytes of a tgz with one file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as files:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        files.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["pb", "tgz"])
def test_a_frozen_graph_is_run_by_its_tensor_names(kind, tmp_path):
    content, see = small_graph()
    path = tmp_path / f"graph.{kind}"
    path.write_bytes(content if kind == "pb" else archive(content))
    network = inception.load(path)
    assert (network.features, network.classes) == (5, 4)
    for n, size in ((3, 8), (2, 16)):
        images = random_images(n, size, 3)
        seen, wanted = network(images), see(images)
        np.testing.assert_allclose(seen.features, wanted[0], atol=1e-5)
        np.testing.assert_allclose(seen.logits, wanted[1], atol=1e-5)


def test_a_graph_without_softmax_has_features_only(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(small_graph(softmax=False)[0])
    network = inception.load(path)
    assert network.classes == 0
    assert network(random_images(2, 8, 3)).logits is None


@pytest.mark.skipif(not WEIGHTS.exists(), reason=f"needs {WEIGHTS}")
def test_the_npz_gives_2048_features_and_no_logits():
    network = inception.load(WEIGHTS)
    images = random_images(3, 32, 3)
    features = network(images).features.numpy()
    assert features.shape == (3, 2048) and features.min() >= 0
    assert (network.classes, network(images[:1]).logits) == (0, None)
    # Neither the batch nor the size of the others changes what is seen.
    alone = network(images[1:2]).features
    np.testing.assert_allclose(alone, features[1:2], atol=1e-4)
    assert np.abs(features[0] - features[1]).max() > 0.1


def flipped(content):
    """Bytes with one in their middle damaged."""
    middle = len(content) // 2
    return (
        content[:middle] + bytes([content[middle] ^ 1]) + content[middle:][1:]
    )


def test_another_graph_than_the_published_one_is_warned_of(tmp_path, capsys):
    (tmp_path / "graph.pb").write_bytes(small_graph()[0])
    inception.load(tmp_path / "graph.pb")
    assert "not the graph of 2015 as it was" in capsys.readouterr().err


def test_a_wrong_file_is_told_in_one_line(tmp_path):
    graph = small_graph()[0]
    other = graph.replace(b"pool_3", b"pool_4")
    arrays = io.BytesIO()
    np.savez(arrays, **{"conv/weight": np.zeros([3, 3, 3, 32])})
    compressed = io.BytesIO()
    np.savez_compressed(compressed, **{"conv/weight": np.arange(9999)})
    for content in (
        b"",
        b"no graph",
        other,
        archive(b"text", "notes.txt"),
        archive(graph)[:-50],
        flipped(archive(graph)),
        arrays.getvalue(),
        arrays.getvalue()[:-9],
        flipped(compressed.getvalue()),
    ):
        path = tmp_path / "file"
        path.write_bytes(content)
        with pytest.raises(UserError) as error:
            inception.load(path)
        assert str(path) in str(error.value) and "\n" not in str(error.value)
    with pytest.raises(UserError, match="No such file"):
        inception.load(tmp_path / "missing")


def test_a_download_is_checked_and_made_once(tmp_path, cache):
    content = small_graph()[0]
    path = tmp_path / "there.tgz"
    path.write_bytes(archive(content))
    url, md5 = path.as_uri(), hashlib.md5(content).hexdigest()
    with pytest.raises(UserError, match="gave another graph"):
        download.archive(url, "0" * 32)
    assert not list(cache.rglob("*"))
    kept = download.archive(url, md5)
    path.unlink()
    assert download.archive(url, md5) == kept
    assert inception.load(kept).features == 5


@pytest.mark.parametrize(
    "header, message",
    [
        ("Content-Length", "broke off after"),
        ("Transfer-Encoding", "IncompleteRead"),
    ],
)
def test_a_download_that_breaks_off_leaves_nothing(header, message, cache):
    graph = small_graph()[0]
    content, md5 = archive(graph), hashlib.md5(graph).hexdigest()

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
        download.archive(url)  # nobody listens any more

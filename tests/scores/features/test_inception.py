"""The network of FID: three kinds of file, and files that are none of them."""

import io

import numpy as np
import pytest
from helpers import SHARED, graph_archive, random_images, small_graph

from srmcmc_tf.errors import UserError
from srmcmc_tf.scores.features import inception

WEIGHTS = SHARED / "data" / "inception_2015_pool3_float16.npz"


@pytest.mark.parametrize("kind", ["pb", "tgz"])
def test_a_frozen_graph_is_run_by_its_tensor_names(kind, tmp_path):
    content, see = small_graph()
    path = tmp_path / f"graph.{kind}"
    path.write_bytes(content if kind == "pb" else graph_archive(content))
    network = inception.load(path)
    assert (network.features, network.classes) == (5, 4)
    for n, size in ((3, 8), (2, 16)):
        images = random_images(n, size, 3)
        outputs, wanted = network(images), see(images)
        np.testing.assert_allclose(outputs.features, wanted[0], atol=1e-5)
        np.testing.assert_allclose(outputs.logits, wanted[1], atol=1e-5)


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
    # The features of an image do not depend on the rest of the batch.
    alone = network(images[1:2]).features
    np.testing.assert_allclose(alone, features[1:2], atol=1e-4)
    assert np.abs(features[0] - features[1]).max() > 0.1


def flipped(content):
    """Bytes with one in their middle damaged."""
    middle = len(content) // 2
    return (
        content[:middle] + bytes([content[middle] ^ 1]) + content[middle:][1:]
    )


def test_another_graph_than_the_published_one_is_warned_of(tmp_path, caplog):
    (tmp_path / "graph.pb").write_bytes(small_graph()[0])
    inception.load(tmp_path / "graph.pb")
    assert "not the published graph of 2015" in caplog.text


def test_a_wrong_file_is_a_one_line_error(tmp_path):
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
        graph_archive(b"text", "notes.txt"),
        graph_archive(graph)[:-50],
        flipped(graph_archive(graph)),
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

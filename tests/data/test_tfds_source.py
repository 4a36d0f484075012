import numpy as np
import pytest
import tensorflow_datasets as tfds

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples, tfds_source
from srmcmc_tf.errors import UserError


def prepare(name, directory, images, monkeypatch):
    """Has TFDS itself write a data set of these images under a real name."""
    builder = tfds.builder(name, data_dir=directory)

    def example(feature, image):
        if isinstance(feature, tfds.features.Image):
            return image
        if isinstance(feature, tfds.features.FeaturesDict):
            return {k: example(f, image) for k, f in feature.items()}
        return "" if isinstance(feature, tfds.features.Text) else 0

    def splits(self, *args):
        features = self.info.features
        return {
            "train": ((i, example(features, x)) for i, x in enumerate(images))
        }

    monkeypatch.setattr(type(builder), "_split_generators", splits)
    builder.download_and_prepare()


@pytest.mark.parametrize(
    "name, shape",
    [
        ("mnist", (28, 28, 1)),
        ("fashion_mnist", (28, 28, 1)),
        ("cifar10", (32, 32, 3)),
        ("celeb_a", (218, 178, 3)),
    ],
)
def test_tfds_sets_are_read_under_their_names(
    name, shape, tmp_path, monkeypatch
):
    images = [np.full(shape, 4 * i, np.uint8) for i in range(50)]
    prepare(name, tmp_path, images, monkeypatch)
    config = Config(
        dataset=name,
        data_dir=str(tmp_path),
        n_examples=30,
        n_left_out=10,
        channels=shape[2],
        batch_size=8,
    )
    observed, left_out = examples.load(config)
    assert observed.shape == (30, 32, 32, shape[2]) and len(left_out) == 10
    levels = np.concatenate([observed, left_out])[:, 0, 0, 0] / 4
    assert len(set(levels)) == 40  # forty different ones of the fifty


@pytest.mark.parametrize("name", ["mnist", "cifar10", "celeb_a"])
def test_a_failed_download_says_what_to_put_where(name, tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("no route to host")

    monkeypatch.setattr(tfds_source.socket, "create_connection", refuse)
    (tmp_path / "downloads").mkdir()
    config = Config(dataset=name, data_dir=str(tmp_path), batch_size=8)
    with pytest.raises(UserError) as error:
        examples.load(config)
    assert "no route to host" in str(error.value)
    assert str(tmp_path / "downloads" / "manual") in str(error.value)


def test_any_dataset_of_tfds_that_fails_to_download_is_one_line(
    tmp_path, monkeypatch
):
    def refuse(*args, **kwargs):
        raise OSError("no route to host")

    kmnist = type(tfds.builder("kmnist", data_dir=tmp_path))
    monkeypatch.setattr(kmnist, "download_and_prepare", refuse)
    with pytest.raises(UserError, match="kmnist is not in .*no route to host"):
        tfds_source.source("kmnist", tmp_path)

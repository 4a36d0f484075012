import shutil

import numpy as np
import pytest
import tensorflow_datasets as tfds
from helpers import random_images, untrained_run

import srmcmc_tf
from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples, tfds_source
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.run import Run
from srmcmc_tf.serving import model_card


def prepare(name, directory, images, monkeypatch):
    """Has TFDS itself write a data set of these images under a real name."""
    builder = tfds.builder(name, data_dir=directory)

    def example(feature, image):
        if isinstance(feature, tfds.features.Image):
            return image
        if isinstance(feature, tfds.features.FeaturesDict):
            return {k: example(f, image) for k, f in feature.items()}
        if isinstance(feature, tfds.features.ClassLabel):
            return int(image.max()) // 4 % feature.num_classes
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
    observed, left_out, labels = examples.load(config)
    assert observed.shape == (30, 32, 32, shape[2]) and len(left_out) == 10
    levels = np.concatenate([observed, left_out])[:, 0, 0, 0] / 4
    assert len(set(levels)) == 40  # forty different ones of the fifty
    if name == "celeb_a":
        assert labels is None
    else:
        assert len(labels.names) == 10
        numbers = np.concatenate(labels[:2])
        np.testing.assert_array_equal(numbers, levels % 10)


def test_a_damaged_file_is_one_line(tmp_path, monkeypatch):
    prepare("mnist", tmp_path, list(random_images(50, 28)), monkeypatch)
    config = Config(
        dataset="mnist", data_dir=str(tmp_path), channels=1, batch_size=8
    )
    (path,) = tmp_path.rglob("*.tfrecord*")
    content = path.read_bytes()
    half = len(content) // 2
    flipped = content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]
    for damaged in (b"", content[:half], flipped):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match="is damaged .*; remove it"):
            examples.load(config)
    path.unlink()
    with pytest.raises(UserError, match="is damaged"):
        examples.load(config)


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


def test_any_images_of_tfds_train_by_name_and_keep_their_labels(
    tmp_path, monkeypatch
):
    name = "oxford_flowers102"
    shape = (20, 24, 3)
    images = [np.full(shape, 4 * i, np.uint8) for i in range(20)]
    prepare(name, tmp_path / "data", images, monkeypatch)
    found = srmcmc_tf.data.load_tfds(
        name, image_size=8, data_dir=str(tmp_path / "data")
    )
    assert found.observed.shape == (16, 8, 8, 3)
    assert len(found.labels.names) == 102
    np.testing.assert_array_equal(
        found.labels.observed, found.observed[:, 0, 0, 0] // 4
    )
    run = untrained_run(tmp_path / "run", f"tfds:{name}", image_size=8, n_f=4)
    run = Run(run.path)  # from its config.json
    assert run.config.dataset == f"tfds:{name}" and run.config.ema == 0.999
    facts = model_card.facts(run, run.load_model())
    assert facts["dataset"] == f"tfds:{name}"
    assert "catalog of TensorFlow Datasets" in facts["licence_of_the_data"]

    # The same name with other images: neither the cache nor the run is fooled.
    shutil.rmtree(tmp_path / "data")
    images = [255 - image for image in images]
    prepare(name, tmp_path / "data", images, monkeypatch)
    other = srmcmc_tf.data.load_tfds(
        name, image_size=8, data_dir=str(tmp_path / "data")
    )
    np.testing.assert_array_equal(other.observed, 255 - found.observed)


@pytest.mark.parametrize(
    "name, message",
    [
        ("tfds", "needs a name, as --dataset=tfds:oxford_flowers102"),
        ("tfds:oxford_flowrs102", "did you mean 'oxford_flowers102'"),
        ("tfds:mnist:9.9.9", "cannot be loaded at version 9.9.9"),
        ("tfds:imdb_reviews", "needs one feature of images.*it has none"),
        ("tfds:no such", "must be one of"),
    ],
)
def test_other_names_are_explained_in_one_line(name, message, tmp_path):
    with pytest.raises(UserError, match=message) as error:
        examples.load(Config(dataset=name, data_dir=str(tmp_path)))
    assert "\n" not in str(error.value) and len(str(error.value)) < 400

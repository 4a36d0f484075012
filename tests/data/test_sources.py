import pytest
from helpers import random_images, write_images

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples
from srmcmc_tf.errors import UserError


def folder_config(path, **settings):
    settings = {"image_size": 8, "channels": 1, "batch_size": 8, **settings}
    return Config(dataset="folder", data_dir=str(path), **settings)


def test_a_changed_folder_is_read_again(tmp_path):
    write_images(tmp_path, random_images(20))
    examples.load(folder_config(tmp_path))
    write_images(tmp_path, random_images(30))
    assert sum(map(len, examples.load(folder_config(tmp_path))[:2])) == 30


def test_a_missing_or_empty_folder_is_named(tmp_path):
    with pytest.raises(UserError, match="no such directory"):
        examples.load(folder_config(tmp_path / "none"))
    with pytest.raises(UserError, match="holds no files"):
        examples.load(folder_config(tmp_path))
    with pytest.raises(UserError, match="needs --data_dir"):
        examples.load(folder_config(""))


@pytest.mark.parametrize("name", ["celeb_a", "celeb_a_128", "lsun_bedroom"])
def test_a_folder_stands_in_for_datasets_that_are_hard_to_get(tmp_path, name):
    write_images(tmp_path, random_images(20, 8, 3), "jpg")
    config = Config(
        dataset=name, data_dir=str(tmp_path), image_size=8, batch_size=8
    )
    assert len(examples.load(config).observed) == 16


def test_a_data_dir_for_the_embedded_digits_is_a_mistake(tmp_path):
    with pytest.raises(UserError, match="--dataset=folder"):
        examples.load(Config(image_size=8, channels=1, data_dir=str(tmp_path)))

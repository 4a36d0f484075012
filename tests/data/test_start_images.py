import dataclasses

import numpy as np
import pytest
from helpers import random_images, write_images

from srmcmc_tf.config import presets
from srmcmc_tf.data import examples, start_images
from srmcmc_tf.errors import UserError

CONFIG = dataclasses.replace(presets.load("digits"), batch_size=8)


def test_chains_from_noise_need_no_images():
    for start in ("noise", "gaussian", "persistent"):
        config = dataclasses.replace(CONFIG, start=start)
        assert start_images.load(config) is None


def test_informed_chains_start_from_examples_that_were_left_out():
    config = dataclasses.replace(CONFIG, start="degraded")
    found = start_images.load(config)
    np.testing.assert_array_equal(found, examples.load(config).left_out)


def test_other_domains_come_from_their_folder(tmp_path):
    write_images(tmp_path / "x", random_images(10))
    config = dataclasses.replace(
        CONFIG, start="dataset", start_dir=str(tmp_path / "x")
    )
    assert start_images.load(config).shape == (10, 8, 8, 1)


def test_a_missing_folder_is_named_by_its_own_flag(tmp_path):
    config = dataclasses.replace(
        CONFIG, start="dataset", start_dir=str(tmp_path / "x")
    )
    with pytest.raises(UserError, match="--start_dir=.*no such directory"):
        start_images.load(config)


def test_fewer_images_than_a_batch_are_enough(tmp_path):
    write_images(tmp_path / "x", random_images(3))
    config = dataclasses.replace(
        CONFIG, start="dataset", start_dir=str(tmp_path / "x")
    )
    assert len(start_images.load(config)) == 3 < config.batch_size

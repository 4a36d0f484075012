"""The examples of a run, or an error where they have changed."""

import dataclasses

import numpy as np
import pytest
from helpers import random_images, write_images

from srmcmc_tf.config import presets
from srmcmc_tf.data import examples as data
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs import examples
from srmcmc_tf.runs.run import Run


@pytest.fixture
def run(tmp_path):
    """A run of a folder of images, as bin/train leaves it."""
    write_images(tmp_path / "images", random_images(30))
    config = dataclasses.replace(
        presets.load("folder"),
        data_dir=str(tmp_path / "images"),
        image_size=8,
        channels=1,
        batch_size=8,
        n_left_out=4,
    )
    run = Run(tmp_path / "run")
    with run.lock():
        digest = examples.digest(config, data.load(config))
        run.save_config(config, digest)
    return run


def test_the_examples_it_was_trained_on_are_loaded(run):
    found = examples.load(run)
    assert len(found.observed) == 26 and len(found.left_out) == 4


def test_changed_examples_are_refused(run, tmp_path):
    write_images(tmp_path / "images", random_images(30, seed=1))
    with pytest.raises(UserError, match="have changed since it was trained"):
        examples.load(run)
    write_images(tmp_path / "images", random_images(30))
    examples.load(run)


def test_images_to_start_from_are_those_left_out(tmp_path, run):
    config = dataclasses.replace(run.config, start="degraded")
    other = Run(tmp_path / "other")
    with other.lock():
        other.save_config(config, run.data_digest)
    found = examples.load_starts(other)
    np.testing.assert_array_equal(found, examples.load(run).left_out)


def test_a_digest_covers_the_images_of_the_other_domain(run, tmp_path):
    config = dataclasses.replace(
        run.config, start="dataset", start_dir=str(tmp_path / "images")
    )
    found = data.load(config)
    one, other = (
        examples.digest(config, found, random_images(4, seed=seed))
        for seed in (0, 1)
    )
    assert one != other and len(one) == len(run.data_digest)

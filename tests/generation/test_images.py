import numpy as np
import pytest
from helpers import random_images, write_images

from srmcmc_tf.data import examples
from srmcmc_tf.errors import UserError
from srmcmc_tf.generation.images import images_of


def test_images_are_those_of_the_folder_or_of_the_run(tiny_run, tmp_path):
    found = images_of(tiny_run, (8, 8, 1), None, 5, "observed")
    both = examples.load(tiny_run.config)
    np.testing.assert_array_equal(found, both.observed[:5])
    found = images_of(tiny_run, (8, 8, 1), None, 5)
    np.testing.assert_array_equal(found, both.left_out[:5])
    write_images(tmp_path / "x", random_images(3))
    assert images_of(tiny_run, (8, 8, 1), str(tmp_path / "x"), 5).shape[0] == 3


def test_a_model_file_needs_a_folder():
    with pytest.raises(UserError, match="give --images=FOLDER"):
        images_of("model.keras", (8, 8, 1), None, 5)

import numpy as np
import pytest
import tensorflow as tf
from helpers import random_images

from srmcmc_tf.data import pixels


def test_an_exported_model_gives_f_and_the_samples_of_seeds(
    tiny_model, tmp_path
):
    tiny_model.export(tmp_path / "model", verbose=False)
    again = tf.saved_model.load(str(tmp_path / "model"))
    assert {"serve", "sample"} <= set(again.signatures)
    x = pixels.to_float(random_images(3))
    np.testing.assert_allclose(again.serve(x), tiny_model(x), atol=1e-6)
    np.testing.assert_allclose(
        again.sample(tf.constant([4, 5], tf.int64)),
        tiny_model.sample([4, 5]),
        atol=1e-5,
    )


def test_another_format_is_refused_with_the_remedy(tiny_model, tmp_path):
    with pytest.raises(ValueError, match="use model.energy.export"):
        tiny_model.export(tmp_path / "model", format="onnx")

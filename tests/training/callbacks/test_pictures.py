import numpy as np
import pytest
from helpers import events, fit_updates, random_images
from PIL import Image

import srmcmc_tf
from srmcmc_tf.runs.run import Run
from srmcmc_tf.training.callbacks.pictures import Pictures


def test_pictures_are_drawn_on_time_and_at_the_end(tiny_model, tmp_path):
    pictures = Pictures(tmp_path, every=2, n=4, data=random_images(9))
    fit_updates(tiny_model, [pictures], n=5)
    names = sorted(p.name for p in (tmp_path / "samples").iterdir())
    assert names == ["000002.png", "000004.png", "000005.png"]
    found = events(tmp_path)
    assert [e.step for e in found.Tensors("pictures/samples")] == [2, 4, 5]
    assert len(found.Tensors("pictures/data")) == 1
    assert len(found.Tensors("pictures/starts")) == 1
    Image.open(tmp_path / "samples" / "000005.png").verify()


def fit_points(dimension, tmp_path):
    energy = srmcmc_tf.energies.mlp(dimension, n_f=4)
    model = srmcmc_tf.ShortRunEBM(energy, K=2)
    model.compile()
    x = np.zeros([8, dimension], np.float32)
    fit_updates(model, [Pictures(tmp_path, n=4)], n=1, x=x)


def test_points_are_drawn_too(tmp_path):
    fit_points(2, tmp_path)
    Image.open(tmp_path / "samples" / "000001.png").verify()


def test_what_cannot_be_drawn_is_refused_before_the_first_update(tmp_path):
    with pytest.raises(ValueError, match=r"samples of shape \(3,\)"):
        fit_points(3, tmp_path)


def test_a_conditional_model_gets_a_row_per_class(tmp_path):
    energy = srmcmc_tf.energies.convnet(8, 1, n_f=2)
    energy = srmcmc_tf.energies.conditional(energy, 3)
    model = srmcmc_tf.ShortRunEBM(energy, K=1)
    model.compile()
    x, y = np.zeros((3, 8, 8, 1), np.float32), np.arange(3)
    pictures = Pictures(tmp_path, every=1, n=8)
    model.fit(x, y, callbacks=[pictures], verbose=0)
    width, height = Image.open(Run(tmp_path).picture(1)).size
    assert width < height  # three rows of two

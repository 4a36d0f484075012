from helpers import events, fit_updates, random_images
from PIL import Image

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

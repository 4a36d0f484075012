"""The reconstruction error: per pixel and channel, on the scale [-1, 1]."""

import types

import numpy as np
import pytest
from helpers import random_images

from srmcmc_tf.evaluation.reconstruction import reconstruction_error


class Shifted:
    """Reconstructs images that are off by 51 gray levels, 0.4 in [-1, 1]."""

    weights = ()
    shift = 0.4

    def __init__(self, interrupt_at=None):
        self.seeds = []
        self.interrupt_at = interrupt_at

    def untrained(self):
        """Off by half as much."""
        other = Shifted()
        other.shift = 0.2
        return other

    def reconstruct(self, x, *, seeds):
        if self.interrupt_at in seeds:
            raise KeyboardInterrupt
        self.seeds += seeds
        return types.SimpleNamespace(x=np.asarray(x) + self.shift)


IMAGES = random_images(120) // 2


def test_the_error_of_a_known_shift():
    model = Shifted()
    record = reconstruction_error(model, IMAGES)
    assert record.pop("value") == pytest.approx(0.4**2, rel=1e-5)
    assert record.pop("standard_error") == pytest.approx(0, abs=1e-6)
    assert record.pop("untrained") == pytest.approx(0.2**2, rel=0.02)
    assert record == {"n": 120, "range": "[-1, 1]", "n_untrained": 50}
    assert model.seeds == list(range(120))


def test_an_interrupted_call_is_resumed(tmp_path):
    part = tmp_path / "errors.part"
    with pytest.raises(KeyboardInterrupt):
        reconstruction_error(Shifted(interrupt_at=100), IMAGES, part=part)
    model = Shifted()
    record = reconstruction_error(model, IMAGES, part=part)
    assert model.seeds == list(range(100, 120))
    assert record == reconstruction_error(Shifted(), IMAGES)


@pytest.mark.parametrize("left_out", [IMAGES[:0], np.zeros([5, 2])])
def test_there_is_no_error_without_images(left_out):
    record = reconstruction_error(Shifted(), left_out)
    assert record["value"] is None and "no left-out" in record["reason"]

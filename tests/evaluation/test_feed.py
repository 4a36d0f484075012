"""Feeding metrics: all images once, whatever interrupts it."""

import numpy as np
import pytest
from helpers import random_images

from srmcmc_tf.evaluation import feed, image_sets
from srmcmc_tf.scores.fid import FID

IMAGES = image_sets.from_array(random_images(300), "noise", "observed")


def test_it_stops_between_batches_when_asked(counting):
    asked = iter([False, False, True])
    done = feed.feed(
        {"fid": FID(3)}, counting.network(), IMAGES, stop=lambda: next(asked)
    )
    assert not done and counting.images == 2 * feed.BATCH


def test_an_interrupted_pass_is_resumed_exactly(
    counting, tmp_path, monkeypatch
):
    monkeypatch.setattr(feed, "SAVE_SECONDS", 0)
    network, part = counting.network(), tmp_path / "state.part"
    whole, resumed = FID(3), FID(3)
    assert feed.feed({"fid": whole}, network, IMAGES)
    counting.images, counting.interrupt_after = 0, 128
    with pytest.raises(KeyboardInterrupt):
        feed.feed({"fid": FID(3)}, network, IMAGES, part)
    counting.interrupt_after = None
    assert feed.feed({"fid": resumed}, network, IMAGES, part)
    assert counting.images == IMAGES.n
    for a, b in zip(whole.moments(), resumed.moments(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_state_of_other_metrics_is_not_resumed(
    counting, tmp_path, monkeypatch
):
    monkeypatch.setattr(feed, "SAVE_SECONDS", 0)
    network, part = counting.network(), tmp_path / "state.part"
    feed.feed({"fid": FID(3)}, network, IMAGES, part)
    feed.feed({"other": FID(3)}, network, IMAGES, part)
    assert counting.images == 2 * IMAGES.n

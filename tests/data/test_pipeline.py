import numpy as np
import pytest
from helpers import random_images

from srmcmc_tf.data import pipeline
from srmcmc_tf.models import schedules


def take(dataset, n):
    return np.stack(list(dataset.take(n).as_numpy_iterator()))


def test_an_epoch_shows_every_image_once_and_the_next_in_another_order():
    images = np.arange(40, dtype=np.uint8).reshape(40, 1, 1, 1)
    x = take(pipeline.endless(images, batch_size=10, sigma=0.0), 8)
    shown = np.round((x.reshape(2, 40) + 1) * 127.5).astype(int)
    assert sorted(shown[0]) == sorted(shown[1]) == list(range(40))
    assert list(shown[0]) != list(shown[1])


def test_batches_go_across_the_end_of_an_epoch():
    images = np.arange(7, dtype=np.uint8).reshape(7, 1, 1, 1)
    x = take(pipeline.endless(images, batch_size=5, sigma=0.0), 7)
    shown = np.round((x.ravel() + 1) * 127.5).astype(int)
    assert sorted(np.bincount(shown)) == [5] * 7


def test_batch_t_does_not_depend_on_where_one_starts():
    images = random_images(30)
    whole = take(pipeline.endless(images, batch_size=8, seed=3), 9)
    later = take(pipeline.endless(images, batch_size=8, seed=3, start=5), 4)
    np.testing.assert_array_equal(whole[5:], later)


def test_the_parts_of_a_batch_make_the_whole():
    images = random_images(30)
    make = dict(batch_size=12, seed=3, start=1)
    whole = take(pipeline.endless(images, **make), 4)
    parts = [
        take(pipeline.endless(images, **make, part=(i, 3)), 4) for i in range(3)
    ]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole)
    with pytest.raises(ValueError, match="5 equal parts"):
        pipeline.endless(images, **make, part=(0, 5))


def test_seeds_change_order_and_noise():
    images = random_images(30)
    a, b = (
        take(pipeline.endless(images, batch_size=8, seed=s), 2) for s in (0, 1)
    )
    assert not np.array_equal(a, b)


def test_noise_has_the_standard_deviation_sigma_and_follows_its_schedule():
    images = np.full([16, 32, 32, 3], 128, np.uint8)
    sigma = schedules.Anneal(0.2, after=1, half_life=1)
    x = take(pipeline.endless(images, batch_size=16, sigma=sigma), 4)
    np.testing.assert_allclose(
        x.std(axis=(1, 2, 3, 4)), [0.2, 0.2, 0.1, 0.05], rtol=0.02
    )


def test_half_of_the_images_are_mirrored_anew_in_each_epoch():
    images = random_images(64)
    make = dict(batch_size=64, sigma=0.0, seed=2)
    plain = take(pipeline.endless(images, **make), 2)
    mirrored = take(pipeline.endless(images, **make, flip=True), 2)
    same = (plain == mirrored).all(axis=(2, 3, 4))
    other = (plain[:, :, :, ::-1] == mirrored).all(axis=(2, 3, 4))
    assert (same ^ other).all() and 0.3 < same.mean() < 0.7
    assert not np.array_equal(same[0], same[1])
    parts = [
        take(pipeline.endless(images, **make, flip=True, part=(i, 2)), 2)
        for i in range(2)
    ]
    np.testing.assert_array_equal(np.concatenate(parts, 1), mirrored)


def test_batches_of_floats_are_refused():
    with pytest.raises(ValueError, match="uint8"):
        pipeline.batches(np.zeros([64, 8, 8, 1], np.float32))


def test_an_iteration_is_an_epoch_and_the_next_goes_on():
    images = random_images(30)
    make = dict(batch_size=8, seed=3, start=2)
    dataset = pipeline.batches(images, **make)
    assert len(dataset) == 3
    take(dataset, 2)  # not all of it: this does not count
    found = np.concatenate([take(dataset, 3), take(dataset, 9)])
    whole = take(pipeline.endless(images, **make), 8)
    np.testing.assert_array_equal(found, whole[:6])
    found = take(pipeline.batches(images, **make).repeat(), 8)
    np.testing.assert_array_equal(found, whole)


def test_fit_and_evaluate_end_without_a_number_of_steps(tiny_model):
    dataset = pipeline.batches(random_images(30), batch_size=8)
    tiny_model.fit(dataset, epochs=2, shuffle=False, verbose=0)
    assert tiny_model.update == 6
    history = tiny_model.fit(
        dataset, validation_data=dataset, shuffle=False, verbose=0
    ).history
    assert tiny_model.update == 9 and "val_loss" in history
    assert tiny_model.evaluate(dataset, verbose=0)


def test_labels_go_with_their_images():
    images = np.arange(40, dtype=np.uint8).reshape(40, 1, 1, 1)
    dataset = pipeline.batches(
        images, 3 * np.arange(40), batch_size=10, sigma=0
    )
    for x, y in dataset:
        shown = np.round((x.numpy().ravel() + 1) * 127.5)
        np.testing.assert_array_equal(3 * shown, y)
    with pytest.raises(ValueError, match=r"\(39,\), but there are 40 images"):
        pipeline.batches(images, np.arange(39), batch_size=10)

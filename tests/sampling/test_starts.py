import numpy as np
import pytest
import tensorflow as tf

from srmcmc_tf.sampling import chain, rng, starts
from srmcmc_tf.sampling.starts import Start

X = rng.stream(1).uniform([4, 8, 8, 3])


def test_noise_is_uniform_or_normal():
    uniform = Start().noise(rng.stream(0), [1000, 8]).numpy()
    normal = Start(kind="gaussian").noise(rng.stream(0), [1000, 8]).numpy()
    assert np.abs(uniform).max() <= 1 < np.abs(normal).max()
    assert abs(uniform.var() - 1 / 3) < 0.02 and abs(normal.var() - 1) < 0.05


def test_data_and_other_domains_start_at_their_images():
    for kind in ("data", "dataset"):
        start = Start(kind=kind)
        np.testing.assert_array_equal(start.from_images(X, rng.stream(0)), X)
        assert start.project(X.shape[1:]) is None


@pytest.mark.parametrize("task", ["inpaint", "upscale", "colorize"])
def test_what_is_known_never_changes_along_the_chain(task):
    start = Start(kind="degraded", task=task, factor=2)
    z = start.from_images(X, rng.stream(0))
    ends = chain.run(
        lambda x: -tf.reduce_sum(tf.sin(3 * x) ** 2, axis=(1, 2, 3)),
        z,
        rng.stream(0),
        K=10,
        step_size=0.05,
        noise=0.1,
        project=start.project(X.shape[1:]),
    ).x
    atol = 0 if task == "inpaint" else 1e-5  # a masked pixel keeps its bits
    np.testing.assert_allclose(start.known(ends), start.known(X), atol=atol)
    assert np.abs(ends - z).max() > 0.1


def test_each_chain_of_a_bank_is_continued_once_in_a_round():
    rows = [starts.bank_rows(5, t, 4, 14).numpy() for t in range(6)]
    for first in (0, 3):
        visited = np.concatenate(rows[first : first + 3])
        assert len(set(visited)) == 12 and max(visited) < 14
    assert set(np.concatenate(rows[:3])) != set(np.concatenate(rows[3:]))
    again = starts.bank_rows(5, 4, 4, 14)
    np.testing.assert_array_equal(again, rows[4])
    assert not np.array_equal(starts.bank_rows(6, 4, 4, 14), rows[4])


def test_a_seed_picks_its_chain_whatever_is_beside_it():
    together = starts.pick(rng.stream_per_row(range(500)), 10).numpy()
    assert set(together) == set(range(10))
    alone = starts.pick(rng.stream_per_row([7]), 10).numpy()
    assert alone[0] == together[7]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(kind="cold"), "start='cold': must be one of noise, gaussian"),
        (dict(task="denoise"), "task='denoise': must be one of inpaint"),
        (dict(bank=0), "bank=0: must be 1 or more"),
        (dict(reinitialize=2.0), r"reinitialize=2.0: not in \[0, 1\]"),
        (dict(start_noise=-1.0), r"start_noise=-1.0: not in \[0, 1\]"),
    ],
)
def test_impossible_starts_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Start(**settings)


def test_a_mask_of_the_wrong_size_is_refused():
    start = Start(kind="degraded", mask=np.eye(16))
    with pytest.raises(ValueError, match="the mask is 16x16"):
        start.check((8, 8, 3))
    with pytest.raises(ValueError, match="for images, not for points"):
        start.check((2,))

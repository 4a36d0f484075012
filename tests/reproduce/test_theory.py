import numpy as np
import pytest

from srmcmc_tf.reproduce import theory


@pytest.fixture(scope="module")
def laws():
    return theory.learn()


def test_short_run_chain_matches_the_moments_and_its_ebm_does_not(laws):
    gap = np.abs(theory.H @ (laws.q - laws.truth)).max()
    assert gap < 1e-6
    assert np.abs(theory.H @ (laws.p_mme - laws.truth)).max() > 0.1


def test_kl_obeys_pythagoras(laws):
    kl = theory.kl
    for p in (laws.truth, laws.q):
        for theta in (laws.theta, np.zeros_like(laws.theta)):
            far = theory.ebm(theta)
            np.testing.assert_allclose(
                kl(p, far), kl(p, laws.p_mle) + kl(laws.p_mle, far), atol=1e-6
            )


def test_kl_to_the_target_falls_with_K(laws):
    distances = [
        theory.kl(theory.chain(laws.theta, K), laws.p_mme)
        for K in range(0, 200, 20)
    ]
    assert all(np.diff(distances) < 0)


def test_the_figure_is_a_picture_with_notes(tmp_path):
    notes = theory.figure(tmp_path / "figure5.png")
    content = (tmp_path / "figure5.png").read_bytes()
    assert content.startswith(b"\x89PNG") and len(notes) == 4

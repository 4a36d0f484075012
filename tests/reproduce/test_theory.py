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


def test_the_chain_is_reversible_with_respect_to_its_ebm(laws):
    np.testing.assert_allclose(
        theory.chain(laws.theta, 10**7), laws.p_mme, atol=1e-9
    )


def test_the_chain_has_less_entropy_than_the_maximum_likelihood_model(laws):
    less = theory.entropy(laws.p_mle) - theory.entropy(laws.q)
    assert less > 1e-3
    assert less == pytest.approx(theory.kl(laws.q, laws.p_mle), abs=1e-6)


@pytest.mark.parametrize("name", ["theta", "theta_mle"])
def test_the_sandwich_formula_predicts_the_variance_of_estimates(laws, name):
    law = theory.chain if name == "theta" else theory.ebm
    theta = getattr(laws, name)
    formula = np.diag(theory.sandwich(law, theta, laws.truth))
    found = theory.simulate(law, theta, laws.truth, n=100_000, datasets=400)
    # A variance over 400 sets has a relative standard error of 0.07.
    np.testing.assert_allclose(found / formula, 1.0, atol=4 * 0.07)


def test_the_sandwich_of_the_ebm_has_the_fisher_information(laws):
    if_true = theory.sandwich(theory.ebm, laws.theta_mle, laws.p_mle)
    centered = theory.H - (theory.H @ laws.p_mle)[:, None]
    information = laws.p_mle * centered @ centered.T
    np.testing.assert_allclose(if_true @ information, np.eye(5), atol=1e-5)


def test_the_figure_is_a_picture_and_the_table_states_each_claim(
    laws, tmp_path
):
    theory.figure(tmp_path / "theory.png", laws)
    content = (tmp_path / "theory.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    lines = theory.table(laws, n=100_000, datasets=10)
    heads = ["moments", "Pythagoras for q", "Pythagoras for the data"]
    heads += ["KL(q_K | p_mme)", "entropies", "n Var", "n Var"]
    assert all(a.startswith(b) for a, b in zip(lines, heads, strict=True))

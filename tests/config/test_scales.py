from srmcmc_tf.config import presets


def test_the_papers_model_has_one_stage():
    assert presets.load("cifar10").scales == [(32, 100, 0.03)]


def test_stages_halve_the_size_and_have_their_own_K_and_sigma():
    given = dict(coarse_K="20,15", coarse_sigma="0.2,0.1", K=7, sigma=0.05)
    found = presets.load("cifar10", given=given).scales
    assert found == [(8, 20, 0.2), (16, 15, 0.1), (32, 7, 0.05)]


def test_stages_without_a_sigma_have_that_of_the_finest():
    given = dict(coarse_K="5", sigma="auto")
    assert [s.sigma for s in presets.load("mnist", given=given).scales] == [
        "auto",
        "auto",
    ]

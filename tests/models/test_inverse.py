import numpy as np

from srmcmc_tf.models import energies, inverse
from srmcmc_tf.models.stage import Stage
from srmcmc_tf.sampling import rng


def test_the_ends_are_those_of_the_chain_without_noise():
    stage = Stage(energies.convnet(8, 1, n_f=2), K=4, noise=0.0)
    z = rng.stream(1).uniform([2, 8, 8, 1])
    ends, pullback = inverse.with_pullback([stage], z, 4)
    np.testing.assert_allclose(ends, stage.run(z, rng.stream(0)).x, atol=1e-6)
    # f' is piecewise constant: a gradient comes back as it is.
    np.testing.assert_allclose(pullback(z), z, atol=1e-5)

import math

import numpy as np
import pytest

from srmcmc_tf.models import energies
from srmcmc_tf.models.baselines import networks

NETWORKS = {
    "encoder": lambda **kwargs: networks.encoder(32, 3, 7, n_f=4, **kwargs),
    "generator": lambda **kwargs: networks.generator(32, 3, 7, n_f=4, **kwargs),
}
both = pytest.mark.parametrize("name", NETWORKS)


@both
@pytest.mark.parametrize("batch_norm", [False, True])
def test_a_network_has_the_kernels_of_the_energy(name, batch_norm):
    """All but the last, which ends in f there and at z or a logit here."""
    f = energies.convnet(32, 3, n_f=4)
    wanted = [math.prod(w.shape) for w in f.weights if len(w.shape) == 4]
    network = NETWORKS[name](batch_norm=batch_norm)
    kernels = [w for w in network.weights if len(w.shape) == 4]
    found = [math.prod(w.shape) for w in kernels]
    assert not set(wanted[:-1]) - set(found) and len(found) == len(wanted)


def test_a_generator_turns_z_into_images_in_range():
    z = 100 * np.ones([2, 7], np.float32)
    x = NETWORKS["generator"]()(z)
    assert x.shape == (2, 32, 32, 3) and np.abs(x).max() <= 1


@both
def test_a_seed_names_the_initial_weights(name):
    a, b, c = (NETWORKS[name](seed=seed).weights[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)

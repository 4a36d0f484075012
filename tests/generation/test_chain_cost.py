import srmcmc_tf
from srmcmc_tf.generation import chain_cost
from srmcmc_tf.sampling.stopping import Stop


def test_the_cost_of_K_steps_is_known_and_that_of_stopping_times_measured():
    energy = srmcmc_tf.energies.convnet(8, 1, n_f=2)
    energy = srmcmc_tf.energies.conditional(energy, 3)
    for stop, expected in (("K", 4), (Stop(rule="slope", below=1e6), 0)):
        model = srmcmc_tf.ShortRunEBM(energy, K=4, stop=stop)
        settings = dict(K=4, noise=None)
        found = chain_cost.measure(model, [1, 2], [0, 2], **settings)
        assert (found.steps, found.spread) == (expected, 0.0)
        assert found.evaluations == max(expected, 1)

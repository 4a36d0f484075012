import numpy as np
import pytest
import tensorflow as tf

import srmcmc_tf
from srmcmc_tf.models import energies
from srmcmc_tf.sampling import rng


def test_another_K_is_no_new_trace(tiny_model):
    calls = [tiny_model.sample(range(4), K=K) for K in (0, 1, 2, 30)]
    traces = tiny_model.stages[
        0
    ].compiled.langevin.experimental_get_tracing_count()
    assert traces == 1 and len({c.numpy().tobytes() for c in calls}) == 4


def test_memory_does_not_grow_with_K():
    """The graph is the same for any K and carries no stack of past states."""
    model = srmcmc_tf.ShortRunEBM(energies.convnet(8, 1, n_f=2), K=3)
    model.sample([0], K=5)
    graph = (
        model.stages[0]
        .compiled.langevin.get_concrete_function(
            tf.zeros([1, 8, 8, 1]),
            rng.stream(0),
            tf.constant(5),
            tf.constant(0.01),
            tf.constant(0),
        )
        .graph.as_graph_def()
    )
    ops = {n.op for n in graph.node}
    ops |= {n.op for f in graph.library.function for n in f.node_def}
    assert "While" in ops or "StatelessWhile" in ops
    assert not {op for op in ops if "Stack" in op or "TensorListPush" in op}


def test_a_seed_names_a_sample_whatever_is_beside_it(tiny_model):
    together = tiny_model.sample([3, 4, 5])
    np.testing.assert_allclose(
        tiny_model.sample([4])[0], together[1], atol=1e-5
    )
    np.testing.assert_array_equal(
        tiny_model.start([4])[0], tiny_model.start([3, 4])[1]
    )


@pytest.mark.parametrize("seeds", [3, [], [[1]]])
def test_seeds_are_a_list_of_integers(tiny_model, seeds):
    with pytest.raises(ValueError, match="list of integers"):
        tiny_model.sample(seeds)


def test_xla_follows_the_device_by_default(tiny_model):
    assert tiny_model.jit_compile is False  # the update as a whole, ever
    on_gpu = bool(tf.config.list_physical_devices("GPU"))
    assert bool(tiny_model.stages[0].compiled.langevin._jit_compile) is on_gpu


def test_xla_chain_agrees_with_the_graph_without_noise():
    f = energies.convnet(8, 1, n_f=4)
    plain, xla = (srmcmc_tf.ShortRunEBM(f, K=5, noise=0.0) for _ in range(2))
    xla.compile(jit_compile=True)
    z = tiny_start = plain.start([0, 1])
    stream = rng.stream_per_row([0, 1])
    ends = [m.run_chain(z, stream).x for m in (plain, xla)]
    np.testing.assert_allclose(*ends, atol=1e-5)
    assert np.abs(ends[0] - tiny_start).max() > 0

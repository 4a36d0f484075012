import keras
import numpy as np
import pytest
import tensorflow as tf

import srmcmc_tf
from srmcmc_tf.models import energies, scales
from srmcmc_tf.sampling import chain, rng


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
    ends = [m.stages[0].run(z, stream).x for m in (plain, xla)]
    np.testing.assert_allclose(*ends, atol=1e-5)
    assert np.abs(ends[0] - tiny_start).max() > 0


@pytest.fixture(scope="module")
def pyramid():
    """Stages of 4, 8 and 16 pixels with 3, 2 and 2 steps; moved weights."""
    stages = []
    for size, K in ((4, 3), (8, 2), (16, 2)):
        energy = energies.pooled(size, 1, n_f=4, seed=size)
        for variable in energy.variables:
            variable.assign(2.0 * variable)  # so that chains move
        stages.append(srmcmc_tf.Stage(energy, K=K, noise=0.05))
    model = srmcmc_tf.ShortRunEBM(stages)
    model.compile()
    return model


def test_a_pyramid_is_its_stages_one_after_another(pyramid):
    """Against the stages written out: plain chains, plain enlarging."""
    stream, x = rng.stream_per_row([5, 6]), None
    for i, stage in enumerate(pyramid.stages):
        own = stream.fold(rng.STAGE, i) if i else stream
        z = own.fold(rng.START).uniform([2, *stage.image_shape])
        if x is not None:
            enlarged = np.repeat(np.repeat(x, 2, axis=1), 2, axis=2)
            z = stage.start_noise * z + enlarged
        x = chain.langevin(
            stage.energy, z, own.fold(rng.CHAIN), K=stage.K, noise=0.05
        ).x
    np.testing.assert_allclose(pyramid.sample([5, 6]), x, atol=1e-5)
    assert pyramid.K == 7 and pyramid.image_shape == (16, 16, 1)


def test_a_seed_names_all_starts_of_a_pyramid(pyramid):
    z = pyramid.start([3, 4])
    assert z.shape == (2, 16 + 64 + 256)
    np.testing.assert_array_equal(pyramid.start([4])[0], z[1])
    np.testing.assert_allclose(
        pyramid.sample([4])[0], pyramid.sample([3, 4])[1], atol=1e-5
    )


def test_a_trace_grows_from_stage_to_stage(pyramid):
    steps = [0, 3, 5, 7, 9]
    frames = pyramid.trace([1, 2], steps).numpy()
    for i, K in enumerate(steps):
        np.testing.assert_allclose(
            frames[:, i], pyramid.sample([1, 2], K=K), atol=1e-5
        )

    def block(x):
        """The size of the squares of equal pixels."""
        for size in (4, 2):
            means = scales.shrink(x, (16 // size, 16 // size, 1))
            if np.allclose(scales.enlarge(means, (16, 16, 1)), x, atol=1e-6):
                return size
        return 1

    assert [block(frames[:, i]) for i in range(5)] == [4, 4, 2, 1, 1]


def test_interpolation_mixes_the_starts_of_all_stages(pyramid):
    z1, z2 = pyramid.start([1]), pyramid.start([2])
    x = pyramid.interpolate(z1, z2, [1.0, 0.6, 0.0])
    np.testing.assert_allclose(
        x[0, ::2], pyramid.sample([1, 2], noise=0.0), atol=1e-5
    )
    fine = np.array(z1)
    fine[:, :80] = z2[:, :80]  # the same z1 at the finest scale only
    other = pyramid.interpolate(tf.constant(fine), z2, [0.6])
    assert np.abs(other[0, 0] - x[0, 1]).max() > 0.01


def test_the_gradient_by_z_is_that_of_a_tape_over_all_stages(pyramid):
    z = pyramid.start([1, 2])
    weights = np.random.default_rng(1).normal(size=(2, 16, 16, 1))

    @tf.function
    def found(z):
        ends, pullback = pyramid.with_pullback(z, pyramid.K)
        return ends, pullback(tf.constant(weights, tf.float32))

    @tf.function
    def taped(z):
        with tf.GradientTape() as tape:
            tape.watch(z)
            ends = pyramid._ascend([z], tf.constant(pyramid.K))
            loss = tf.reduce_sum(weights * tf.cast(ends, tf.float64))
        return ends, tape.gradient(loss, z)

    for ours, theirs in zip(found(z), taped(z), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_reconstruction_infers_the_starts_of_all_stages(pyramid):
    x = pyramid.sample([7, 8], noise=0.0)
    found = pyramid.reconstruct(x, iterations=30)
    assert found.z.shape == (2, 336) and found.x.shape == x.shape
    assert (found.mse[-1] < 0.1 * found.mse[0]).numpy().all()
    change = np.abs(found.z - pyramid.start([0, 1])).reshape(2, -1)
    for part in (slice(0, 16), slice(16, 80), slice(80, None)):
        assert change[:, part].mean() > 0.05


def test_an_update_trains_all_stages(pyramid):
    kernels = [w for w in pyramid.weights if len(w.shape) == 4]
    before = [w.numpy() for w in kernels]
    x = np.random.default_rng(0).uniform(-1, 1, (8, 16, 16, 1))
    logs = pyramid.train_on_batch(x.astype(np.float32), return_dict=True)
    assert len(kernels) == 3 + 4 + 5
    for old, new in zip(before, kernels, strict=True):
        assert not np.array_equal(old, new)
    difference = logs["f_data"] - logs["f_samples"]
    assert logs["f_difference"] == pytest.approx(difference, abs=1e-5)


def test_a_pyramid_survives_a_keras_file(pyramid, tmp_path):
    pyramid.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again.sample([1]), pyramid.sample([1]))
    assert [s.K for s in again.stages] == [3, 2, 2]
    x = np.zeros([8, 16, 16, 1], np.float32)
    logs = [m.train_on_batch(x, return_dict=True) for m in (pyramid, again)]
    assert logs[0] == logs[1]

import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import ROOT, random_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.models import energies, schedules
from srmcmc_tf.sampling import chain, rng

QUANTITIES = {
    "f_data",
    "f_samples",
    "f_difference",
    "f_prime_norm",
    "out_of_range",
    "loss",
    "gradient_norm",
}


def batch(n=8):
    return pixels.to_float(random_images(n))


def test_an_update_is_algorithm_1():
    """Against the algorithm written out: plain ascent, no compiled chain."""
    f = energies.convnet(8, 1, n_f=4)
    before = [w.numpy() for w in f.weights]
    x = batch()
    stream = rng.stream(7).fold(rng.TRAIN, 0, 0)
    z = stream.fold(rng.START).uniform(tf.shape(x))
    ends = chain.langevin(f, z, stream.fold(rng.CHAIN), K=5).x
    with tf.GradientTape() as tape:
        gain = tf.reduce_mean(f(x)) - tf.reduce_mean(f(ends))
    ascent = tape.gradient(gain, f.trainable_variables)

    model = srmcmc_tf.ShortRunEBM(f, K=5, seed=7)
    model.compile(keras.optimizers.SGD(0.1))
    model.fit(x, batch_size=8, shuffle=False, verbose=0)
    for old, step, new in zip(before, ascent, f.weights, strict=True):
        np.testing.assert_allclose(new, old + 0.1 * step, atol=1e-6)


def test_logs_name_every_quantity(tiny_model):
    history = tiny_model.fit(batch(), batch_size=8, verbose=0).history
    assert set(history) == QUANTITIES
    difference = history["f_data"][0] - history["f_samples"][0]
    assert history["f_difference"][0] == pytest.approx(difference)


def test_updates_draw_different_noise_and_repeat_with_the_seed():
    def train(seed):
        model = srmcmc_tf.ShortRunEBM(
            energies.convnet(8, 1, n_f=4), K=3, seed=seed
        )
        model.compile(keras.optimizers.SGD(0.0))
        x = np.repeat(batch(8), 2, axis=0)
        fit = dict(batch_size=8, verbose=0, shuffle=False, epochs=2)
        return model.fit(x, **fit).history["f_samples"]

    first, second = train(0)
    assert first != second
    assert train(0) == [first, second]
    assert train(1) != [first, second]


def test_evaluate_reports_without_an_update(tiny_model):
    before = [w.numpy() for w in tiny_model.weights]
    logs = tiny_model.evaluate(
        batch(), batch_size=8, verbose=0, return_dict=True
    )
    assert set(logs) == QUANTITIES - {"gradient_norm"}
    for old, new in zip(before, tiny_model.weights, strict=True):
        np.testing.assert_array_equal(old, new)


def test_call_is_f(tiny_model):
    x = batch()
    np.testing.assert_array_equal(tiny_model(x), tiny_model.energy(x))


def test_keras_file_brings_back_weights_optimizer_and_samples(
    tiny_model, tmp_path
):
    tiny_model.fit(batch(), batch_size=8, verbose=0)
    tiny_model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(
        again.sample([1, 2]), tiny_model.sample([1, 2])
    )
    x = batch()
    logs = [m.train_on_batch(x, return_dict=True) for m in (tiny_model, again)]
    assert logs[0] == logs[1]


def test_a_keras_file_is_read_in_a_new_process(tiny_model, tmp_path):
    rate = schedules.Anneal(1e-3, after=5, half_life=5)
    tiny_model.compile(tiny_model.adam(rate))
    tiny_model.fit(batch(), batch_size=8, verbose=0)
    tiny_model.save(tmp_path / "model.keras")
    code = (
        "import srmcmc_tf, sys\n"
        "assert not {'keras', 'tensorflow'} & set(sys.modules)\n"
        "import keras\n"
        f"model = keras.saving.load_model({str(tmp_path / 'model.keras')!r})\n"
        f"model.sample([1, 2]).numpy().tofile({str(tmp_path / 'x')!r})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    x = np.fromfile(tmp_path / "x", np.float32).reshape(2, 8, 8, 1)
    np.testing.assert_allclose(x, tiny_model.sample([1, 2]), atol=1e-5)


def test_config_round_trip(tiny_model):
    again = srmcmc_tf.ShortRunEBM.from_config(tiny_model.get_config())
    assert again.get_config() == tiny_model.get_config()


def test_a_loss_of_ones_own_is_refused(tiny_model):
    with pytest.raises(ValueError, match="own loss: no `loss`"):
        tiny_model.compile(loss="mse")


def test_summary_counts_the_weights_of_the_energy(tiny_model, capsys):
    tiny_model.summary()
    assert f"{tiny_model.energy.count_params():,}" in capsys.readouterr().out


def trained_with(*layers, updates=2):
    """A model of 8x8x1 images with layers of its own, after some updates."""
    first = keras.layers.Dense(8, kernel_initializer="ones")
    last = keras.layers.Dense(1, kernel_initializer="ones")
    shape = keras.Input((8, 8, 1))
    stack = [keras.layers.Flatten(), first, *layers, last]
    model = srmcmc_tf.ShortRunEBM(keras.Sequential([shape, *stack]), K=2)
    model.compile(keras.optimizers.SGD(0.01))
    history = model.fit(batch(), batch_size=8, epochs=updates, verbose=0)
    return model, history.history


def test_dropout_is_active_in_the_update_and_off_in_the_chain():
    models = [
        trained_with(keras.layers.Dropout(rate, seed=1))[0]
        for rate in (0.0, 0.99)
    ]
    assert not np.allclose(*(model.weights[0] for model in models))
    x = models[1].sample([1])
    np.testing.assert_array_equal(x, models[1].sample([1]))


def test_moments_and_singular_vectors_move_in_training_only():
    norm = keras.layers.BatchNormalization()
    spectral = keras.layers.SpectralNormalization(keras.layers.Dense(8))
    model, _ = trained_with(norm, spectral)
    state = [norm.moving_mean, spectral.vector_u]
    trained = [np.array(variable) for variable in state]
    assert np.abs(trained[0]).max() > 0  # it starts at 0
    model.sample([1, 2])
    model.evaluate(batch(), verbose=0)
    for variable, value in zip(state, trained, strict=True):
        np.testing.assert_array_equal(variable, value)
    model.fit(batch(), batch_size=8, verbose=0)
    for variable, value in zip(state, trained, strict=True):
        assert not np.array_equal(variable, value)


def test_regularizers_of_the_energy_are_part_of_the_loss():
    def layer(strength):
        l2 = keras.regularizers.L2(strength)
        return keras.layers.Dense(8, "relu", kernel_regularizer=l2)

    found = []
    for strength in (0.0, 0.1):
        keras.utils.set_random_seed(1)
        model, history = trained_with(layer(strength), updates=1)
        gap = history["f_samples"][0] - history["f_data"][0]
        found.append((model.weights[2].numpy(), history["loss"][0] - gap))
    (free, nothing), (held, penalty) = found
    assert not np.array_equal(held, free)
    assert nothing == pytest.approx(0, abs=1e-4) and penalty > 0.1


def test_terminate_on_nan_has_a_loss_to_look_at(tiny_model):
    x = np.array(batch())
    x[:] = np.nan
    tiny_model.fit(
        x, epochs=5, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()]
    )
    assert tiny_model.update < 5


def weights_of(model):
    return np.concatenate([w.numpy().ravel() for w in model.weights])


def test_sigma_adds_noise_to_the_data_of_an_update():
    stream = rng.stream(3).fold(rng.TRAIN, 0, 0).fold(rng.NOISE)
    noisy = batch() + 0.2 * stream.normal([8, 8, 8, 1])
    found = []
    for sigma, x in ((0.0, noisy), (0.2, batch()), (0.0, batch())):
        energy = energies.convnet(8, 1, n_f=2)
        model = srmcmc_tf.ShortRunEBM(energy, K=2, sigma=sigma, seed=3)
        model.compile(keras.optimizers.SGD(0.1))
        model.fit(x, batch_size=8, shuffle=False, verbose=0)
        found.append(weights_of(model))
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    assert np.abs(found[0] - found[2]).max() > 1e-4


def test_noise_from_both_sides_is_a_warning(tiny_model):
    tiny_model.sigma = 0.1
    data = srmcmc_tf.data.batches(random_images(8), batch_size=8).repeat()
    with pytest.warns(UserWarning, match="added twice: sigma=0.1 by the model"):
        tiny_model.fit(data, steps_per_epoch=1, shuffle=False, verbose=0)


def test_settings_take_effect_after_first_use(tiny_model):
    before = tiny_model.evaluate(batch(), verbose=0, return_dict=True)
    samples = tiny_model.sample([1])
    changes = dict(sigma=9.0, K=9, step_size=30.0, noise=9.0)
    for name, value in changes.items():
        setattr(tiny_model, name, value)
        assert getattr(tiny_model, name) == value
        after = tiny_model.evaluate(batch(), verbose=0, return_dict=True)
        changed = "f_data" if name == "sigma" else "f_samples"
        assert np.isfinite(after[changed]) and after[changed] != before[changed]
        if name != "sigma":
            again = tiny_model.sample([1])
            assert not np.array_equal(again, samples)
            samples = again
        before = after
        with pytest.raises(ValueError, match=f"{name} must be"):
            setattr(tiny_model, name, -1)
        with pytest.raises(AttributeError, match="set it on the model"):
            setattr(tiny_model.stages[0], name, value)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_a_global_policy_is_that_of_the_networks_not_of_the_chain(policy):
    keras.config.set_dtype_policy(policy)
    try:
        ours = energies.mlp(2, n_f=4)
        own = keras.Sequential([keras.layers.Dense(1)])
        for energy in (ours, own):
            model = srmcmc_tf.ShortRunEBM(energy, K=2, image_shape=(2,))
            model.compile(keras.optimizers.SGD(0.1))
            x = np.random.default_rng(0).uniform(-1, 1, (8, 2))
            logs = model.fit(x, epochs=2, verbose=0).history
            assert np.isfinite(logs["loss"]).all()
            assert model.predict(x, verbose=0).dtype == np.float32
            assert model.sample([1]).dtype == tf.float32
            assert energy.layers[-1].variable_dtype == "float32"
            scaled = isinstance(
                model.optimizer, keras.optimizers.LossScaleOptimizer
            )
            assert scaled is (policy == "mixed_float16")
        hidden = {layer.compute_dtype for layer in ours.layers[1:-1]}
        assert hidden == {policy.removeprefix("mixed_")} == {own.compute_dtype}
    finally:
        keras.config.set_dtype_policy("float32")


def test_callbacks_of_keras_have_what_they_monitor(tiny_model, tmp_path):
    """The quantities and modes that docs/training.md recommends."""
    watched = dict(monitor="val_f_difference", mode="min", min_delta=1e9)
    halve = keras.callbacks.ReduceLROnPlateau(patience=1, factor=0.5, **watched)
    tiny_model.fit(
        batch(),
        batch_size=8,
        epochs=9,
        verbose=0,
        validation_data=batch(),
        callbacks=[
            keras.callbacks.TerminateOnNaN(),
            keras.callbacks.EarlyStopping(patience=3, **watched),
            halve,
            keras.callbacks.ModelCheckpoint(tmp_path / "{epoch}.keras"),
        ],
    )
    assert tiny_model.update == 4  # the first, and no better one after it
    assert float(tiny_model.optimizer.learning_rate) < 1e-4
    again = keras.saving.load_model(tmp_path / "4.keras")
    np.testing.assert_array_equal(weights_of(again), weights_of(tiny_model))

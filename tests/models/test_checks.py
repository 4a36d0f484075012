import re

import keras
import numpy as np
import pytest
from helpers import random_images

import srmcmc_tf
from srmcmc_tf.data import pixels

layers = keras.layers


@keras.saving.register_keras_serializable("tests")
class Subclassed(keras.Model):
    """One that does not say its shapes before it is called."""

    def __init__(self, units=1, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.flatten = layers.Flatten()
        self.dense = layers.Dense(units)

    def call(self, x):
        return self.dense(self.flatten(x))

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def functional():
    x = inputs = keras.Input((8, 8, 1))
    x = h = layers.Conv2D(4, 3, padding="same", activation="silu")(x)
    x = layers.Conv2D(4, 3, padding="same")(x)
    x = layers.LayerNormalization()(layers.Add()([x, h]))
    return keras.Model(
        inputs, layers.Dense(1)(layers.GlobalAveragePooling2D()(x))
    )


def series():
    conv = layers.Conv1D(4, 3, activation="silu")
    stack = [keras.Input((16, 2)), conv, layers.Flatten(), layers.Dense(1)]
    return keras.Sequential(stack)


ENERGIES = {
    "sequential": lambda: keras.Sequential(
        [keras.Input((8, 8, 1)), layers.Flatten(), layers.Dense(1)]
    ),
    "unbuilt sequential": lambda: keras.Sequential(
        [layers.Conv2D(2, 3), layers.GlobalMaxPooling2D(), layers.Dense(1)]
    ),
    "residual": functional,
    "subclassed": Subclassed,
    "series": series,
    "points": lambda: srmcmc_tf.energies.mlp(2, n_f=4),
}
SHAPES = {"series": (16, 2), "points": (2,)}


@pytest.mark.parametrize("name", ENERGIES)
def test_any_keras_model_trains_samples_and_comes_back_from_a_file(
    name, tmp_path
):
    shape = SHAPES.get(name, (8, 8, 1))
    says = name not in ("unbuilt sequential", "subclassed")
    given = {} if says else {"image_shape": shape}
    model = srmcmc_tf.ShortRunEBM(ENERGIES[name](), K=2, sigma=0.1, **given)
    model.compile()
    x = np.random.default_rng(0).uniform(-1, 1, (4, *shape))
    model.fit(x, batch_size=4, verbose=0)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.image_shape == shape and again.sigma == 0.1
    samples = model.sample([1, 2])
    assert samples.shape == (2, *shape)
    np.testing.assert_array_equal(again.sample([1, 2]), samples)
    assert model.predict(x, verbose=0).shape == (4, 1)


@pytest.mark.slow
def test_a_backbone_of_keras_applications_is_an_energy():
    backbone = keras.applications.MobileNetV2(
        (32, 32, 3), alpha=0.35, include_top=False, weights=None, pooling="avg"
    )
    energy = keras.Sequential([backbone, layers.Dense(1)])
    model = srmcmc_tf.ShortRunEBM(energy, K=2, image_shape=(32, 32, 3))
    model.compile()
    x = pixels.to_float(random_images(4, 32, 3))
    history = model.fit(x, batch_size=4, epochs=2, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    assert model.sample([1]).shape == (1, 32, 32, 3)


@pytest.mark.parametrize(
    "energy, given, message",
    [
        (Subclassed, {}, "give image_shape=(height, width, channels)"),
        (
            lambda: Subclassed(10),
            {"image_shape": (8, 8, 1)},
            "one value per example, [n] or [n, 1], not [n, 10]",
        ),
        (
            functional,
            {"image_shape": (8, 8, 3)},
            "image_shape=(8, 8, 3), but the energy takes (8, 8, 1)",
        ),
        (
            ENERGIES["unbuilt sequential"],
            {"image_shape": (8,)},
            "cannot be called on examples of shape (8,)",
        ),
        (functional, {"K": -1}, "K must be an integer from 0 up, not -1"),
        (functional, {"K": 2.5}, "K must be an integer from 0 up, not 2.5"),
        (functional, {"noise": float("nan")}, "noise must be a finite number"),
        (functional, {"step_size": "1"}, "step_size must be a finite number"),
        (functional, {"sigma": -0.1}, "sigma must be a finite number"),
        (functional, {"dtype": "mixed_float16"}, "the chain is float32"),
    ],
)
def test_what_cannot_be_a_model_is_one_line(energy, given, message):
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        srmcmc_tf.ShortRunEBM(energy(), **given)
    assert "\n" not in str(error.value)


def test_a_layer_is_no_energy():
    with pytest.raises(TypeError, match=r"a keras.Model, not Dense"):
        srmcmc_tf.Stage(layers.Dense(1))

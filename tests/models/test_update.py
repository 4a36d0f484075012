import keras
import numpy as np
import pytest
from helpers import random_images

import srmcmc_tf
from srmcmc_tf.data import pixels
from srmcmc_tf.models import energies

X = pixels.to_float(random_images(8)).numpy()


class See(keras.callbacks.Callback):
    """Collects what callbacks receive."""

    def on_train_begin(self, logs=None):
        self.logs = []

    def on_train_batch_end(self, batch, logs=None):
        self.logs.append({name: float(v) for name, v in logs.items()})


def fit(optimizer, updates=2, x=X, batch_size=8, **options):
    model = srmcmc_tf.ShortRunEBM(energies.convnet(8, 1, n_f=2), K=2)
    model.compile(optimizer, **options)
    see = See()
    settings = dict(shuffle=False, verbose=0, callbacks=[see])
    model.fit(x, batch_size=batch_size, epochs=updates, **settings)
    return model, see.logs


def test_micro_steps_of_an_update_draw_their_own_starts_and_noise():
    sgd = keras.optimizers.SGD(0.1, gradient_accumulation_steps=3)
    model, logs = fit(sgd, 3)
    assert len({values["f_samples"] for values in logs}) == 3
    assert len({values["f_data"] for values in logs}) == 1  # same weights
    assert model.update == 3 and int(sgd.iterations) == 1


def test_the_norm_of_a_scaled_gradient_is_logged_without_the_scale():
    _, plain = fit(keras.optimizers.SGD(0.1))
    model, scaled = fit(
        keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
    )
    for one, other in zip(plain, scaled, strict=True):
        assert other["gradient_norm"] == pytest.approx(
            one["gradient_norm"], rel=1e-4
        )
    assert model.update == 2


def test_an_update_that_overflows_is_skipped_and_counted():
    optimizer = keras.optimizers.LossScaleOptimizer(
        keras.optimizers.SGD(0.1), initial_scale=3e38
    )
    model, logs = fit(optimizer, x=1000 * X)
    assert [values["gradient_norm"] for values in logs] == [0, 0]
    assert logs[0]["f_samples"] != logs[1]["f_samples"]
    assert model.update == 2 and int(optimizer.iterations) == 0


def test_several_steps_per_execution_make_the_same_updates():
    one, _ = fit(keras.optimizers.SGD(0.1), batch_size=2)
    many, logs = fit(
        keras.optimizers.SGD(0.1), batch_size=2, steps_per_execution=2
    )
    assert one.update == many.update == 8 and len(logs) == 4
    for a, b in zip(one.weights, many.weights, strict=True):
        np.testing.assert_array_equal(a, b)

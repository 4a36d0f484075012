import signal

import numpy as np
import pytest
from helpers import fit_updates, random_images

from srmcmc_tf.data import pixels
from srmcmc_tf.errors import NonFiniteError
from srmcmc_tf.training.callbacks.checkpoints import Checkpoints
from srmcmc_tf.training.callbacks.stop import StopOnNonFinite, StopOnSignal


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_non_finite_value_stops_and_is_named_before_it_is_saved(
    bad, tiny_model, tmp_path
):
    x = np.array(pixels.to_float(random_images(24)))
    x[16:] = bad  # the third update
    calls = [
        StopOnNonFinite(),
        Checkpoints(tmp_path, every=1),
    ]
    with pytest.raises(NonFiniteError, match="update 3: f_d"):
        fit_updates(tiny_model, calls, n=1, x=x)
    newest = sorted((tmp_path / "checkpoints").iterdir())[-1]
    assert newest.name == "000002"


def test_a_signal_ends_fit_after_the_update_and_handlers_are_restored(
    tiny_model,
):
    before = signal.getsignal(signal.SIGTERM)
    stop = StopOnSignal()
    stop.on_train_begin()
    signal.raise_signal(signal.SIGTERM)
    assert stop.caught is signal.SIGTERM and stop.received is None
    stop.close()
    assert signal.getsignal(signal.SIGTERM) is before
    fit_updates(tiny_model, [stop], n=3)
    assert stop.received is signal.SIGTERM and tiny_model.update == 1
    stop.close()  # the second time it does nothing
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        stop = StopOnSignal()
        stop.on_train_begin()
        signal.raise_signal(signal.SIGHUP)
        stop.close()
        assert stop.caught is None
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)

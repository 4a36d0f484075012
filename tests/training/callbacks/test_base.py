import pytest
from helpers import fit_updates

from srmcmc_tf.training.callbacks.base import UpdateCallback


class Seen(UpdateCallback):
    def __init__(self):
        super().__init__()
        self.updates, self.closed = [], 0

    def on_update(self, update, logs):
        assert all(isinstance(value, float) for value in logs.values())
        self.updates.append(update)

    def close(self):
        self.closed += 1


def test_updates_are_numbered_from_the_model_not_from_the_epoch(tiny_model):
    seen = Seen()
    tiny_model.optimizer.iterations.assign(5)
    fit_updates(tiny_model, [seen], n=3)
    assert seen.updates == [6, 7, 8] and seen.closed == 1


def test_a_callback_must_say_what_to_do(tiny_model):
    with pytest.raises(NotImplementedError):
        fit_updates(tiny_model, [UpdateCallback()], n=1)

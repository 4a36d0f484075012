import pytest
from helpers import fit_updates

from srmcmc_tf.models.ema import UpdateAverage
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


@pytest.mark.parametrize("kind", [Seen, UpdateAverage])
def test_several_steps_per_execution_are_refused(tiny_model, kind):
    """They would hide updates from the callback."""
    tiny_model.compile(steps_per_execution=2)
    with pytest.raises(ValueError, match="must see every update, .*: use 1"):
        fit_updates(tiny_model, [kind()])
    assert tiny_model.update == 0

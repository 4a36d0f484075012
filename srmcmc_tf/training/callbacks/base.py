"""The base of all callbacks."""

from typing import Any

import keras


class UpdateCallback(keras.callbacks.Callback):
    """Calls `on_update(update, logs)` with the update's number and floats.

    The values are those of the single update; `on_epoch_end` receives means.

    Attributes:
        rank: those of a lower rank must come before it in `fit`.
    """

    rank = 2  # 0: the average, 1: what judges an update, 2: what uses it
    _rolled_back = False

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._rolled_back:  # this update was undone
            self._rolled_back = False
            return
        values = {name: float(value) for name, value in (logs or {}).items()}
        self.on_update(self.model.update, values)

    def on_train_end(self, logs: Any = None) -> None:
        self.close()

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        """Called after each update."""
        raise NotImplementedError

    def on_rollback(self) -> None:
        """Called where the model was rolled back instead of `on_update`."""
        self._rolled_back = True

    def close(self) -> None:
        """Releases what the callback holds, such as open files.

        `fit` calls it at its end, but not where an exception ends it: use
        `contextlib.closing` then. It does nothing the second time.
        """

"""The base of all callbacks."""

from typing import Any

import keras


class UpdateCallback(keras.callbacks.Callback):
    """Calls `on_update(update, logs)` with the update's number and floats."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        values = {name: float(value) for name, value in (logs or {}).items()}
        self.on_update(self.model.update, values)

    def on_train_end(self, logs: Any = None) -> None:
        self.close()

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        """Called after each update."""
        raise NotImplementedError

    def close(self) -> None:
        """Releases what the callback holds, such as open files.

        `fit` calls it at its end, but not where an exception ends it: use
        `contextlib.closing` then. It does nothing the second time.
        """

"""The progress bar of a run."""

import io
import sys
import time
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from srmcmc_tf.runs.checkpoints import Saved
from srmcmc_tf.training.callbacks.base import UpdateCallback

_SECONDS = 10  # between two lines where there is no terminal


class Progress(UpdateCallback):
    """A progress bar on a terminal, a line every 10 seconds elsewhere.

    Args:
        updates: the last update of the run.
        saved: checkpoints written so far, whose cost is shown.
    """

    def __init__(self, updates: int, saved: Sequence[Saved]) -> None:
        super().__init__()
        self.updates = updates
        self.saved = saved
        self._bar: tqdm | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        self._bar = tqdm(
            total=self.updates,
            initial=self.model.update,
            unit=" updates",
            dynamic_ncols=True,
            file=sys.stderr if sys.stderr.isatty() else io.StringIO(),
        )
        self._printed = time.perf_counter()

    def on_update(self, update: int, logs: dict[str, float]) -> None:
        assert self._bar is not None  # made by on_train_begin
        shown = {name: f"{value:.3g}" for name, value in logs.items()}
        if self.saved:
            last = self.saved[-1]
            shown["checkpoint"] = f"{last.megabytes:.1f}MB/{last.seconds:.2f}s"
        self._bar.set_postfix(shown, refresh=False)
        self._bar.update()
        now = time.perf_counter()
        if not sys.stderr.isatty() and now - self._printed > _SECONDS:
            tqdm.write(str(self._bar), file=sys.stderr)
            self._printed = now

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None

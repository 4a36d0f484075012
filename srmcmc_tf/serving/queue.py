"""Places for requests that are computed, and for those that wait for one."""

import contextlib
import threading
from collections.abc import Iterator


class Busy(Exception):
    """No place became free; the text says what happened."""


class Queue:
    """Lets some requests be computed at once and others wait, in order.

    Args:
        at_once: requests that are computed at once.
        waiting: requests that may wait for one of these places.
        seconds: the longest wait.
    """

    def __init__(self, at_once: int, waiting: int, seconds: float) -> None:
        self.waiting, self.seconds = waiting, seconds
        self._places = threading.BoundedSemaphore(at_once + waiting)
        self._slots = threading.BoundedSemaphore(at_once)

    @contextlib.contextmanager
    def place(self) -> Iterator[None]:
        """Waits for a place and keeps it during the block; see `Busy`."""
        if not self._places.acquire(blocking=False):
            raise Busy(f"{self.waiting} requests are waiting; retry later")
        with contextlib.ExitStack() as leave:
            leave.callback(self._places.release)
            if not self._slots.acquire(timeout=self.seconds):
                raise Busy(
                    f"the server was busy for {self.seconds:g} seconds; "
                    "retry later"
                )
            leave.callback(self._slots.release)
            yield

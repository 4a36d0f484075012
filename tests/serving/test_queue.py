import threading
import time

import pytest

from srmcmc_tf.serving.queue import Busy, Queue


def occupy(queue, n):
    """Takes `n` places in threads; an event that frees them, the threads."""
    taken, leave = threading.Semaphore(0), threading.Event()

    def stay():
        with queue.place():
            taken.release()
            leave.wait(60)

    threads = [threading.Thread(target=stay) for _ in range(n)]
    for thread in threads:
        thread.start()
    return taken, leave, threads


def test_a_request_waits_for_a_place_and_gets_it():
    queue = Queue(at_once=2, waiting=3, seconds=60)
    taken, leave, threads = occupy(queue, 5)
    for _ in range(2):
        assert taken.acquire(timeout=60)
    assert not taken.acquire(timeout=0.05)  # the other three wait
    leave.set()
    for thread in threads:
        thread.join(60)
    for _ in range(3):
        assert taken.acquire(timeout=60)


def test_a_wait_has_an_end():
    queue = Queue(at_once=1, waiting=1, seconds=0.05)
    with queue.place():
        start = time.monotonic()
        with pytest.raises(Busy, match="0.05 seconds"), queue.place():
            raise AssertionError
        assert time.monotonic() - start >= 0.05
    with queue.place():  # nothing was lost
        pass


def test_too_many_do_not_wait_at_all():
    queue = Queue(at_once=1, waiting=0, seconds=60)
    with queue.place():
        with pytest.raises(Busy, match="0 requests are waiting"), queue.place():
            raise AssertionError


def test_a_place_is_given_back_after_an_error():
    queue = Queue(at_once=1, waiting=0, seconds=0)
    for _ in range(2):
        with pytest.raises(KeyError), queue.place():
            raise KeyError

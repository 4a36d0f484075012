"""CPU time, which a busy machine changes less than it does the clock's."""

import contextlib
import pathlib
import threading
import time
from collections.abc import Iterator

import tensorflow as tf

from srmcmc_tf.benchmarks import common
from srmcmc_tf.config.config import Config
from srmcmc_tf.files import atomic, json_file
from srmcmc_tf.models import factory


@contextlib.contextmanager
def added_to(path: pathlib.Path, every: float = 10.0) -> Iterator[None]:
    """Adds the CPU seconds of a block to a file, also if it is killed.

    What a killed run has to repeat is counted twice.
    """
    before, begin = read(path), time.process_time()
    done = threading.Event()

    def note() -> None:
        if path.parent.is_dir():  # training makes it
            value = before + time.process_time() - begin
            atomic.write_json(path, {"cpu_seconds": value})

    def keep_noting() -> None:
        while not done.wait(every):
            note()

    thread = threading.Thread(target=keep_noting, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        note()


def read(path: pathlib.Path) -> float:
    """Returns the seconds in a file; 0 where there is none."""
    found = json_file.read(path, {"cpu_seconds": float}, remedy="delete it")
    return found["cpu_seconds"] if found else 0.0


def of_an_update(config: Config, least: float = 10.0) -> float:
    """Measures the CPU seconds of an update.

    Args:
        config: the settings.
        least: CPU seconds that the measurement takes, or more.
    """
    model = factory.build(config)
    x = tf.zeros([config.batch_size, *model.image_shape])
    step = common.bare_update(model, x)
    step(2)  # traces, and lets the memory grow
    begin = time.process_time()
    n = 0
    while time.process_time() - begin < least:
        step(1)
        n += 1
    return (time.process_time() - begin) / n

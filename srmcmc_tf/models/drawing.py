"""Many chains, drawn in batches: bounded memory, and a progress bar."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from srmcmc_tf.models import inputs
from srmcmc_tf.models.sampler import Sampler

# Chains at once. Their bits do not depend on it.
BATCH = 256

Draw = Callable[..., tf.Tensor]


def sample(
    model: Sampler,
    seeds: Sequence[int] | None,
    start: Any,
    labels: Any,
    *,
    verbose: int | str,
    K: Any,
    **options: Any,
) -> tf.Tensor:
    """What `ShortRunEBM.sample` does; `options` are those of its `trace`."""
    if start is not None:
        shape = model.image_shape
        if len(model.stages) > 1:
            shape = model.start([0]).shape[1:]
        start = inputs.images(start, shape, "start")
        seeds = range(len(start)) if seeds is None else seeds
    if seeds is None:
        raise ValueError("give seeds=, such as range(64), or start=")

    def draw(some: Any, own: Any, y: Any) -> tf.Tensor:
        return model.trace(some, [K], start=own, labels=y, **options)[:, 0]

    if not tf.executing_eagerly() or np.ndim(seeds) != 1:
        return draw(seeds, start, labels)  # a served signature, or an error
    if start is not None and len(start) != len(seeds):
        raise ValueError(f"{len(seeds)} seeds, but {len(start)} starts")
    y = model.labels_of(np.asarray(seeds), labels)
    each = start, *(y or [None])
    return in_batches(draw, seeds, each, verbose=verbose)


def in_batches(
    draw: Draw, seeds: Any, each: Sequence[Any], *, verbose: int | str
) -> tf.Tensor:
    """Draws a sample per seed, `BATCH` at once.

    Args:
        draw: seeds [b] and their part of `each`, to samples [b, ...].
        seeds: integers [n].
        each: more that there is for each seed, such as starts [n, ...], or
            None.
        verbose: 0 for no progress bar, 1 for one, "auto" for one that appears
            after 2 seconds.
    """
    if verbose not in (0, 1, "auto"):
        raise ValueError(f"verbose={verbose!r}: must be 0, 1 or 'auto'")
    seeds = np.asarray(seeds)
    n = len(seeds)
    if n <= BATCH:
        return draw(seeds, *each)
    found = None
    bar = tqdm(
        total=n,
        unit=" samples",
        delay=2 if verbose == "auto" else 0,
        disable=verbose == 0,
        leave=False,
    )
    with bar:
        for i in range(0, n, BATCH):
            # Always whole batches: a shorter one would be traced again.
            first = min(i, n - BATCH)
            some = slice(first, first + BATCH)
            own = (None if one is None else one[some] for one in each)
            x = draw(seeds[some], *own).numpy()
            if found is None:
                found = np.empty((n, *x.shape[1:]), x.dtype)
            found[some] = x
            bar.update(min(BATCH, n - i))
    return tf.convert_to_tensor(found)

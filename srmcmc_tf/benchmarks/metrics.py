"""Time of the metrics against that of Inception, which should dominate."""

import time
from collections.abc import Iterator

import numpy as np

from srmcmc_tf.benchmarks import common
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import feed, image_sets
from srmcmc_tf.scores.features.inception import load
from srmcmc_tf.scores.fid import FID, Moments, frechet_distance
from srmcmc_tf.scores.kid import KID


def inception(path: str = "") -> Iterator[str]:
    """FID and KID over images against the plain compiled Inception.

    Args:
        path: of Inception's weights, as for `features.inception.load`.
    """
    yield distance(2048)
    try:
        network = load(path)
    except UserError as error:
        yield str(error)
        return
    n = feed.BATCH
    x = np.random.default_rng(0).integers(0, 256, (n, 32, 32, 3), np.uint8)
    batch = image_sets.from_array(x, "noise", "all")
    metrics = {"fid": FID(network.features), "kid": KID(network.features)}

    def plain(times: int) -> None:
        for _ in range(times):
            network(x).features.numpy()

    def measured(times: int) -> None:
        for _ in range(times):
            metrics["kid"].reset_state()  # it takes each sample once only
            feed.feed(metrics, network, batch)

    timings = common.interleave(7, 1, plain, measured)
    yield (
        f"32x32x3, batch {n}: Inception {n / timings.seconds[0]:.1f} images a "
        f"second; with FID and KID {timings.over_first[1]:.3f} times the time"
    )


def distance(features: int, n: int = 5000) -> str:
    """The time of the Fréchet distance itself, from given moments."""
    generator = np.random.default_rng(0)
    scales = np.logspace(0, -3, features)
    x = generator.normal(size=(2, n, features)) * scales
    moments = [Moments(n, y.mean(0), np.cov(y, rowvar=False)) for y in x]
    begin = time.perf_counter()
    frechet_distance(*moments)
    seconds = time.perf_counter() - begin
    return (
        f"the distance of {features:,} features from their moments: "
        f"{seconds:.1f} s"
    )

"""Time of the metrics: beside Inception, which they should be lost in."""

import time

import numpy as np

from srmcmc_tf.benchmarks import common
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import feed, image_sets
from srmcmc_tf.metrics import FID, KID
from srmcmc_tf.metrics.features.inception import load
from srmcmc_tf.metrics.fid import Moments, frechet_distance


def inception(path=""):
    """FID and KID over images against the plain compiled Inception."""
    _root()
    try:
        network = load(path)
    except UserError as error:
        print(error)
        return
    n = feed.BATCH
    x = np.random.default_rng(0).integers(0, 256, (n, 32, 32, 3), np.uint8)
    batch = image_sets.from_array(x, "noise", "all")
    metrics = {"fid": FID(network.features), "kid": KID(network.features)}

    def plain(times):
        for _ in range(times):
            network(x).features.numpy()

    def measured(times):
        for _ in range(times):
            metrics["kid"].reset_state()  # one index, one sample
            feed.feed(metrics, network, batch)

    ratios = common.rounds(7, 1, plain, measured)
    print(
        f"32x32x3, batch {n}: Inception {n / ratios.seconds[0]:.1f} images a "
        f"second; with FID and KID {ratios.over_first[1]:.3f} times the time"
    )


def _root():
    """The distance itself, of 2,048 features."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(2, 5000, 2048)) * np.logspace(0, -3, 2048)
    moments = [Moments(5000, y.mean(0), np.cov(y, rowvar=False)) for y in x]
    begin = time.perf_counter()
    frechet_distance(*moments)
    seconds = time.perf_counter() - begin
    print(f"the distance of 2,048 features from their moments: {seconds:.1f} s")

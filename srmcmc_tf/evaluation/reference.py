"""Statistics of real images to compare samples with, cached on disk."""

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation.feed import feed
from srmcmc_tf.evaluation.image_sets import ImageSet
from srmcmc_tf.files import cache, digests, npz, paths
from srmcmc_tf.scores.features.network import Network
from srmcmc_tf.scores.fid import FID, Moments
from srmcmc_tf.scores.kid import CAPACITY, KID


class Reference(NamedTuple):
    """Statistics of real images.

    Attributes:
        name: of their dataset.
        split: which part of it.
        moments: `Moments` of their features.
        features: of the first images, float32 [m, d], for KID; None if they
            are unknown.
    """

    name: str
    split: str
    moments: Moments
    features: np.ndarray | None

    @property
    def identity(self) -> str:
        """Text that changes when the moments do."""
        parts = self.moments.mean, self.moments.covariance
        return " ".join(map(digests.of_array, parts))


def from_images(images: ImageSet, network: Network) -> Reference:
    """The `Reference` of an `ImageSet`, computed once and cached.

    The name of the cached file states dataset, split, n, preprocessing and
    network, and ends in a digest of the images. An interrupted computation is
    resumed.
    """
    if images.n < 2:
        raise UserError(f"{images.name} has {images.n} image: too few")
    path = cache.cache_dir() / "reference" / _file_name(images, network)
    d, kept = network.features, min(CAPACITY, images.n)
    arrays = npz.load_shaped(
        path, {"n": (), "mu": (d,), "sigma": (d, d), "features": (kept, d)}
    )
    if arrays is None:
        fid = FID(network.features)
        kid = KID(network.features, capacity=kept)
        part = path.with_suffix(".part")
        feed({"fid": fid, "kid": kid}, network, images, part)
        n, mean, covariance = fid.moments()
        arrays = {
            "n": np.asarray(n),
            "mu": mean,
            "sigma": covariance,
            "features": kid.kept().numpy(),
        }
        npz.save_to_cache(path, arrays)
        part.unlink(missing_ok=True)
    return _reference(images.name, images.split, arrays)


def is_statistics(path: str | os.PathLike[str]) -> bool:
    """Whether a path is an npz of `mu` and `sigma`."""
    try:
        with npz.Archive(paths.expanded(path)) as archive:
            return {"mu", "sigma"} <= set(archive.names)
    except ValueError:
        return False


def from_statistics(
    path: str | os.PathLike[str], split: str, network: Network
) -> Reference | None:
    """The `Reference` in an npz of `mu`, `sigma` and, optionally, `n`.

    Returns:
        None if the path is something else.
    """
    path = paths.expanded(path)
    if not is_statistics(path):
        return None
    with npz.Archive(path) as archive:
        try:
            arrays = {name: archive.read(name) for name in archive.names}
            finite = all(np.isfinite(a).all() for a in arrays.values())
        except (ValueError, TypeError):
            finite = False
    if not finite or arrays.get("n", np.array(0)).ndim:
        raise UserError(f"{path} is damaged, or not all finite")
    d = network.features
    if arrays["mu"].shape != (d,) or arrays["sigma"].shape != (d, d):
        raise UserError(
            f"{path}: its mean has the shape {arrays['mu'].shape}, "
            f"but {network.name} has {d:,} features"
        )
    return _reference(path.stem, split, arrays)


def _reference(
    name: str, split: str, arrays: Mapping[str, np.ndarray]
) -> Reference:
    moments = Moments(
        int(arrays.get("n", 0)),
        np.asarray(arrays["mu"], np.float64),
        np.asarray(arrays["sigma"], np.float64),
    )
    return Reference(name, split, moments, arrays.get("features"))


def _file_name(images: ImageSet, network: Network) -> str:
    size = "x".join(map(str, images.shape))
    name = re.sub(r"[^\w.]+", "_", images.name)
    kind = "uint8" if len(images.shape) == 3 else "float32"
    return (
        f"{name}-{images.split}-n{images.n}-{images.preprocessing}{size}-"
        f"{kind}-{network.name}-{network.digest}-{images.identity[:8]}.npz"
    )

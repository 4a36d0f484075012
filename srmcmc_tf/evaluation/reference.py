"""What samples are compared with: statistics of real images, kept on disk."""

import pathlib
import re
import zipfile
from typing import NamedTuple

import numpy as np

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import cache, npz
from srmcmc_tf.metrics import streaming
from srmcmc_tf.metrics.fid import FID, Moments
from srmcmc_tf.metrics.kid import CAPACITY, KID


class Reference(NamedTuple):
    """Statistics of real images.

    Attributes:
        name: of their data set.
        split: which part of it.
        moments: `Moments` of their features.
        features: of the first ones, float32 [m, d], for KID; None where they
            are not known.
    """

    name: str
    split: str
    moments: Moments
    features: np.ndarray | None


def of_images(images, network):
    """The `Reference` of an `ImageSet`, made once and cached.

    The cached file's name tells data set, split, n, preprocessing and
    network, and ends in a digest of the images. An interrupted one goes on.
    """
    if images.n < 2:
        raise UserError(f"{images.name} has {images.n} image: too few")
    path = cache.cache_dir() / "reference" / _name(images, network)
    arrays = npz.load(path)
    if arrays is None:
        fid = FID(network.features)
        kid = KID(network.features, capacity=min(CAPACITY, images.n))
        metrics = {"fid": fid, "kid": kid}
        part = path.with_suffix(".part")
        streaming.feed(metrics, network, images, part)
        n, mean, covariance = fid.moments()
        arrays = dict(n=n, mu=mean, sigma=covariance, features=kid.kept())
        npz.save(path, arrays)
        part.unlink(missing_ok=True)
    return _reference(images.name, images.split, arrays)


def of_statistics(path, split, network):
    """The `Reference` in an npz of `mu`, `sigma` and, where it tells, `n`.

    Returns:
        None where the path is something else.
    """
    path = pathlib.Path(path).expanduser()
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        if not {"mu.npy", "sigma.npy"} <= set(archive.namelist()):
            return None
    arrays = npz.load(path)
    if arrays is None or not all(np.isfinite(a).all() for a in arrays.values()):
        raise UserError(f"--{split}={path} is damaged, or not all finite")
    d = network.features
    if arrays["mu"].shape != (d,) or arrays["sigma"].shape != (d, d):
        raise UserError(
            f"--{split}={path}: its mean has the shape {arrays['mu'].shape}, "
            f"but {network.name} has {d:,} features"
        )
    return _reference(path.stem, split, arrays)


def _reference(name, split, arrays):
    moments = Moments(
        int(arrays.get("n", 0)),
        np.asarray(arrays["mu"], np.float64),
        np.asarray(arrays["sigma"], np.float64),
    )
    return Reference(name, split, moments, arrays.get("features"))


def _name(images, network):
    size = "x".join(map(str, images.shape))
    name = re.sub(r"[^\w.]+", "_", images.name)
    kind = "uint8" if len(images.shape) == 3 else "float32"
    return (
        f"{name}-{images.split}-n{images.n}-{images.preprocessing}{size}-"
        f"{kind}-{network.name}-{network.digest}-{images.identity[:8]}.npz"
    )

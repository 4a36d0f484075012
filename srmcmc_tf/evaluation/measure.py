"""Measured values with their context: n, reference, errors and warnings."""

import math
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation.feed import feed
from srmcmc_tf.evaluation.image_sets import ImageSet
from srmcmc_tf.evaluation.records import Record
from srmcmc_tf.evaluation.reference import Reference
from srmcmc_tf.runs.evaluations import Records
from srmcmc_tf.scores.features.network import Network
from srmcmc_tf.scores.fid import FID, standard_error
from srmcmc_tf.scores.inception_score import InceptionScore
from srmcmc_tf.scores.kid import CAPACITY, KID
from srmcmc_tf.scores.streaming import Streaming


def measure(
    images: ImageSet,
    network: Network,
    reference: Reference | None,
    metrics: Iterable[str],
    *,
    part: pathlib.Path | None = None,
    stop: Callable[[], bool] | None = None,
) -> Records | None:
    """FID, KID and IS of images, or their counterparts of the network.

    Args:
        images: generated images.
        network: computes features and logits.
        reference: of real images, by the same network; "is" needs none.
        metrics: some of "fid", "kid" and "is".
        part: file of the state of an interrupted call.
        stop: ends the measurement when it returns True.

    Returns:
        A record for each metric, by the name that the network gives it; None
        if it was stopped. FID has a standard error if KID, which keeps
        features, is measured too.
    """
    if images.n < 2:
        raise UserError(f"{images.n} image of {images.name}: too few")
    makers = {"fid": _fid, "kid": _kid, "is": _score}
    plans = {name: makers[name](images, network, reference) for name in metrics}
    active = {n: metric for n, (metric, _) in plans.items() if metric}
    if active and not feed(active, network, images, part, stop):
        return None
    records = {
        name: {**_values(metric), **context}
        for name, (metric, context) in plans.items()
    }
    fid, kid = active.get("fid"), active.get("kid")
    if isinstance(fid, FID) and isinstance(kid, KID) and fid.reference:
        error = standard_error(kid.kept(), fid.moments(), fid.reference)
        records["fid"]["standard_error"] = _finite(error)
    return {network.names[name]: record for name, record in records.items()}


def describe(name: str, record: Record) -> str:
    """A record as text: the value with its context."""
    label = name.upper() if len(name) <= 3 else name
    if record["value"] is None:
        return f"{label}: none, {record['reason']}"
    text = f"{label} {record['value']:.4f}"
    for key in ("standard_error", "standard_deviation"):
        if record.get(key) is not None:
            text += f" +- {record[key]:.4f} ({key.replace('_', ' ')})"
    text += f"; n={record['n']:,}"
    if "splits" in record:
        text += f" in {record['splits']} splits"
    if "reference" in record:
        real = record["reference"]
        n = f"{real['n']:,}" if real["n"] else "unknown"
        text += f", against {real['name']}, {real['split']}, n={n}"
    if "classes" in record:
        text += f" left-out examples of {record['classes']:,} classes"
    if "range" in record:
        text += f", per pixel and channel, of images in {record['range']}"
    if "untrained" in record:
        text += (
            f"; {record['untrained']:.4f} with untrained weights "
            f"(n={record['n_untrained']:,})"
        )
    if "warning" in record:
        text += f"\n    warning: {record['warning']}"
    return text


# Of a metric: itself, or None if it cannot be computed, and the context of its
# value, which is known in advance.
_Plan = tuple[Streaming | None, Record]


def _fid(
    images: ImageSet, network: Network, reference: Reference | None
) -> _Plan:
    reference = _required(reference)
    n = reference.moments.n
    context = {"n": images.n, "reference": _summary(reference, n)}
    few = [k for k in (images.n, n) if 0 < k <= network.features]
    if few:
        context["warning"] = (
            f"n={min(few):,} gives a singular covariance of "
            f"{network.features:,} features: the value is far too large, "
            "compare it with the same n only"
        )
    metric = FID(network.features, reference.moments, network.names["fid"])
    return metric, context


def _kid(
    images: ImageSet, network: Network, reference: Reference | None
) -> _Plan:
    reference = _required(reference)
    if reference.features is None:
        reason = f"{reference.name} has no features, only their moments"
        return None, {"n": images.n, "reason": reason}
    metric = KID(
        network.features,
        reference.features,
        capacity=min(CAPACITY, images.n),
        name=network.names["kid"],
    )
    n = len(reference.features)
    return metric, {
        "n": metric.capacity,
        "reference": _summary(reference, n),
    }


def _score(
    images: ImageSet, network: Network, reference: Reference | None
) -> _Plan:
    if not network.classes:
        reason = (
            f"{network.source} has no softmax layer; give the frozen graph "
            "or its archive"
        )
        return None, {"n": images.n, "reason": reason}
    splits = min(10, images.n)
    metric = InceptionScore(network.classes, splits, network.names["is"])
    return metric, {"n": images.n, "splits": splits}


def _required(reference: Reference | None) -> Reference:
    if reference is None:
        raise ValueError("only the inception score needs no reference")
    return reference


def _summary(reference: Reference, n: int) -> dict[str, Any]:
    return {"name": reference.name, "split": reference.split, "n": n}


def _values(metric: Streaming | None) -> Record:
    """The value of a metric and its errors; None where they are not finite."""
    if metric is None:
        return {"value": None}
    result = metric.result()
    result = result if isinstance(result, dict) else {metric.name: result}
    record = {
        key.removeprefix(f"{metric.name}_"): _finite(value)
        for key, value in result.items()
    }
    return {"value": record.pop(metric.name), **record}


def _finite(value: Any) -> float | None:
    value = float(value)
    return value if math.isfinite(value) else None

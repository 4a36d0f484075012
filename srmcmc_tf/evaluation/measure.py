"""Values with what belongs to them: n, the reference, errors, warnings."""

import math

from srmcmc_tf.errors import UserError
from srmcmc_tf.metrics.fid import FID
from srmcmc_tf.metrics.inception_score import InceptionScore
from srmcmc_tf.metrics.kid import CAPACITY, KID
from srmcmc_tf.metrics.streaming import feed


def measure(images, network, reference, chosen, *, part=None, stop=None):
    """FID, KID and IS of images, or what takes their place.

    Args:
        images: an `ImageSet`, generated.
        network: a `Network`.
        reference: a `Reference`, real, by the same network; None for "is".
        chosen: some of "fid", "kid" and "is".
        part: a file for the state of an interrupted call.
        stop: a function; where it returns True, nothing more is done.

    Returns:
        A record for each metric by its own name, or None where it was
        stopped. A record has `value`, which is None where there cannot be
        one, `n`, and what else belongs to the value.
    """
    if images.n < 2:
        raise UserError(f"{images.n} image of {images.name}: too few")
    makers = {"fid": _fid, "kid": _kid, "is": _score}
    made = {name: makers[name](images, network, reference) for name in chosen}
    metrics = {n: m for n, m in made.items() if not isinstance(m, str)}
    if metrics and not feed(metrics, network, images, part, stop):
        return None
    return {
        network.names[name]: _record(name, made[name], images, reference)
        for name in chosen
    }


def tell(name, record):
    """A record in words: the value with all that belongs to it."""
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
    if "range" in record:
        text += f", per pixel and channel, of images in {record['range']}"
    if "warning" in record:
        text += f"\n    warning: {record['warning']}"
    return text


def _fid(images, network, reference):
    moments = reference.moments
    return FID(network.features, moments, network.names["fid"])


def _kid(images, network, reference):
    if reference.features is None:
        return f"{reference.name} has no features, only their moments"
    return KID(
        network.features,
        reference.features,
        capacity=min(CAPACITY, images.n),
        name=network.names["kid"],
    )


def _score(images, network, reference):
    if not network.classes:
        return (
            f"{network.source} has no softmax layer; give the frozen graph "
            "or its archive"
        )
    splits = min(10, images.n)
    return InceptionScore(network.classes, splits, network.names["is"])


def _record(name, metric, images, reference):
    if isinstance(metric, str):  # the reason why there is none
        return {"value": None, "n": images.n, "reason": metric}
    result = metric.result()
    result = result if isinstance(result, dict) else {metric.name: result}
    record = {
        key.removeprefix(f"{metric.name}_"): _number(value)
        for key, value in result.items()
    }
    record = {"value": record.pop(metric.name), **record, "n": images.n}
    if name == "is":
        return {**record, "splits": metric.splits}
    n = reference.moments.n
    if name == "kid":
        record["n"] = metric.capacity
        n = len(reference.features)
    record["reference"] = {
        "name": reference.name,
        "split": reference.split,
        "n": n,
    }
    few = [k for k in (images.n, n) if 0 < k <= metric.features]
    if name == "fid" and few:
        record["warning"] = (
            f"n={min(few):,} gives a singular covariance of "
            f"{metric.features:,} features: the value is far too large, "
            "compare it with the same n only"
        )
    return record


def _number(value):
    value = float(value)
    return value if math.isfinite(value) else None

"""From a run, or from two sets of images, to a file of values."""

import json
import math
import os
import pathlib

import numpy as np
from tqdm import tqdm

from srmcmc_tf.data import examples, pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation import classifiers, image_sets, measure, reference
from srmcmc_tf.files import digests, npz
from srmcmc_tf.metrics.features import inception

METRICS = ("fid", "kid", "is", "mse")
_GREY = ("digits", "mnist", "fashion_mnist")


def of_run(
    model, config, *, out, n=40_000, chosen=METRICS, path="", n_mse=None
):
    """Measures the samples of a run's model against its observed examples.

    Args:
        model: the run's, as `trained.load` gives it.
        config: its `Config`.
        out: directory of `evaluation.json`. What that holds of the same
            request already is not measured again, and an interrupted call
            goes on.
        n: samples, those of the seeds 0 to n - 1.
        chosen: some of `METRICS`.
        path: of Inception's weights; by default as the run's config says.
        n_mse: left-out examples for "mse"; all of them by default.

    Returns:
        A record for each metric, by name: see `measure.measure`.
    """
    images = examples.load(config)
    left_out = images.left_out[:n_mse]
    seeing = [name for name in chosen if name != "mse"]
    fake = image_sets.of_model(model, n, images.observed.shape[1:])
    store = _Store(out, fake.identity)
    names = []
    if seeing:
        real = image_sets.of_array(images.observed, config.dataset, "observed")
        path = path or config.inception
        network = network_for(real.shape, path, config)
        names += store.measure(fake, network, real, seeing)
    if "mse" in chosen:
        request = digests.digest(left_out)
        if store.lacks("mse", request):
            part = store.path.with_name("evaluation-mse.part")
            error = reconstruction_error(model, left_out, part=part)
            store.add({"mse": error}, request)
            part.unlink(missing_ok=True)
        names.append("mse")
    return {name: store.records[name] for name in names}


def of_sets(real, fake, *, out, n=None, chosen=METRICS[:3], path=""):
    """Measures one set of images against another.

    Args:
        real: a folder, an npz of images, or an npz of `mu` and `sigma`.
        fake: a folder or an npz of images.
        out: directory of `evaluation.json`, as for `of_run`.
        n: images of `fake`; all of them by default.
        chosen: some of "fid", "kid" and "is".
        path: of Inception's weights.

    Returns:
        A record for each metric, by name.
    """
    fake = image_sets.of_path(fake, "fake")
    if n and n > fake.n:
        raise UserError(f"--n={n}: there are only {fake.n:,} images in --fake")
    fake = fake._replace(n=n or fake.n)
    network = network_for(fake.shape, path)
    known = reference.of_statistics(real, "real", network)
    real = known or image_sets.of_path(real, "real")
    store = _Store(out, fake.identity)
    names = store.measure(fake, network, real, chosen)
    return {name: store.records[name] for name in names}


def network_for(shape, path="", config=None):
    """The network that suits images: Inception, or a classifier of ours.

    Args:
        shape: (h, w, c) of the images.
        path: of Inception's weights, as for `inception.load`.
        config: the `Config` of the run, where it is one.

    Returns:
        A `Network`.
    """
    if config and config.toy:
        return classifiers.of_toy(config.dataset, config.toy)
    if shape[2] == 1 or (config and config.dataset in _GREY):
        return classifiers.of_digits(shape[0])
    return inception.load(path)


def while_training(config, observed):
    """What measures the model of a run, for `evaluating.Evaluate`.

    The network and the reference are made ready here: what is missing stops
    a run before it begins.

    Args:
        config: the run's `Config`.
        observed: its observed examples, uint8 [n, h, w, c].

    Returns:
        A function (model, stop) to records by name, or to None where `stop()`
        was true; and the name by which one model is better than another.
    """
    real = image_sets.of_array(observed, config.dataset, "observed")
    network = network_for(real.shape, config.inception, config)
    known = reference.of_images(real, network)
    chosen = ["fid", "kid"] + ["is"] * bool(network.classes)

    def measure_model(model, stop):
        fake = image_sets.of_model(model, config.evaluate_n, real.shape)
        return measure.measure(fake, network, known, chosen, stop=stop)

    return measure_model, network.names["fid"]


def reconstruction_error(model, left_out, *, part=None, batch=50):
    """The record of the error per pixel and channel, of images in [-1, 1].

    Args:
        model: has `reconstruct(x, seeds=...)`.
        left_out: uint8 [n, h, w, c], not trained on.
        part: a file for the errors of an interrupted call.
        batch: images at once.
    """
    n = len(left_out)
    if not n or left_out.ndim != 4:
        reason = "there are no left-out images"
        return {"value": None, "n": 0, "reason": reason}
    request = f"{image_sets.digest(model)} {digests.digest(left_out)}"
    there = npz.load(part) if part else None
    same = there is not None and str(there["request"]) == request
    errors = there["errors"] if same else np.zeros([0])
    bar = tqdm(total=n, desc="mse", unit=" images", delay=2, leave=False)
    with bar:
        while len(errors) < n:
            done = len(errors)
            bar.update(done - bar.n)
            x = pixels.to_float(left_out[done : done + batch])
            found = model.reconstruct(x, seeds=range(done, done + len(x))).x
            found = pixels.to_float(pixels.to_uint8(np.asarray(found)))
            more = np.mean((found - x) ** 2, axis=(1, 2, 3))
            errors = np.concatenate([errors, more])
            if part:
                npz.save(part, {"request": request, "errors": errors})
    return {
        "value": float(errors.mean()),
        "standard_error": float(errors.std() / math.sqrt(n)),
        "n": n,
        "range": "[-1, 1]",
    }


def _digest(moments):
    return (
        f"{digests.digest(moments.mean)} {digests.digest(moments.covariance)}"
    )


class _Store:
    """`evaluation.json`: the records of one model or set, as they come."""

    def __init__(self, out, identity):
        self.path = pathlib.Path(out) / "evaluation.json"
        self.identity = identity
        try:
            there = json.loads(self.path.read_text())
            same = there["identity"] == identity
            self.records = there["records"] if same else {}
        except (OSError, ValueError, KeyError, TypeError):
            self.records = {}

    def lacks(self, name, request):
        return self.records.get(name, {}).get("request") != request

    def add(self, records, request):
        for name, record in records.items():
            self.records[name] = {**record, "request": request}
        values = {"identity": self.identity, "records": self.records}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(values, indent=2) + "\n")
        os.replace(temporary, self.path)

    def measure(self, fake, network, real, chosen):
        """Adds what is missing; `real` is an `ImageSet` or a `Reference`.

        Returns:
            The names of the chosen records.
        """
        seen = isinstance(real, image_sets.ImageSet)
        if seen and real.shape != fake.shape:
            raise UserError(
                f"{real.name} has images of {real.shape}, {fake.name} of "
                f"{fake.shape}: both must have one size"
            )
        whose = real.identity if seen else _digest(real.moments)
        request = f"n={fake.n} {network.name} {network.digest} {whose}"
        names = {c: network.names[c] for c in chosen}
        missing = [c for c in chosen if self.lacks(names[c], request)]
        if seen and {"fid", "kid"} & set(missing):
            real = reference.of_images(real, network)
        part = self.path.with_name("evaluation.part")
        if missing:
            found = measure.measure(fake, network, real, missing, part=part)
            self.add(found, request)
            part.unlink(missing_ok=True)
        return list(names.values())

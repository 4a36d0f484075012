"""bin/reconstruct: starts whose chains end at given images."""

import functools
import json
import os
import pathlib

from srmcmc_tf.cli import app, flags
from srmcmc_tf.data import pixels
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.run import Run

TASKS = ("whole", "inpaint", "upscale")
RULES = ("descent", "adam")
_RULE = {"vae": "encoder", "dcgan": "langevin"}  # of models that have one
_HELP = [
    ("images", "(left out)", "a folder of images; else the left-out examples"),
    ("n", "1000", "images at the most"),
    ("iterations", "200", "steps of the descent"),
    ("rule", "descent", "descent, the paper's, or adam"),
    ("task", "whole", "whole, inpaint or upscale: what is known of an image"),
    (
        "mask",
        "center",
        "inpaint: center, left, or a PNG that is white where pixels are known",
    ),
    ("factor", "4", "upscale: how many times smaller the known image is"),
]


def main():
    app.run("reconstruct", reconstruct)


def reconstruct(argv):
    text = "Reconstructs images by descent on z through the chain."
    parsers = {
        "n": flags.integer("n", 1, 10**6),
        "iterations": flags.integer("iterations", 1, 10**6),
        "factor": flags.integer("factor", 2, 64),
        "task": functools.partial(flags.choice, "task", TASKS),
        "rule": functools.partial(flags.choice, "rule", RULES),
    }
    given = flags.of_run("reconstruct", argv, text, _HELP, parsers)
    if given is None:
        return 0
    flags.need_images(given, "bin/reconstruct")
    n = given.get("n", 1000)
    iterations = given.get("iterations", 200)
    task = given.get("task", "whole")
    for name, needed in (("mask", "inpaint"), ("factor", "upscale")):
        if name in given and task != needed:
            raise UserError(f"--{name}: only for --task={needed}")
    if "images" in given and not os.path.isdir(given["images"]):
        raise UserError(f"--images={given['images']}: no such directory")
    app.import_tensorflow()

    run = Run(given["workdir"])
    model = run.load_model(best=given.get("best", False))
    config = run.config
    images = _images(config, given.get("images"), n)
    observe = _observe(task, given, config.image_size)
    out = flags.output(given)
    settings = {"iterations": iterations, "observe": observe}
    if config.model == "ebm":
        settings["rule"] = given.get("rule", "descent")
    elif config.model == "vae":  # encodes and decodes, once
        settings, iterations = {}, 0
    keep = sorted({round(i * iterations / 8) for i in range(9)})
    x = pixels.to_float(images)
    found = _in_batches(model, x, {**settings, "keep": keep})
    rule = settings.get("rule", _RULE.get(config.model))
    _report(model, x, observe(x), found, keep, rule, task, out)
    return 0


def _images(config, folder, n):
    import dataclasses

    from srmcmc_tf.data import examples

    if folder is None:
        return examples.load(config).left_out[:n]
    config = dataclasses.replace(
        config, dataset="folder", data_dir=folder, n_left_out=0, batch_size=1
    )
    return examples.load(config).observed[:n]


def _observe(task, given, size):
    """A function from images to what is known of them."""
    import tensorflow as tf

    if task == "whole":
        return tf.identity
    if task == "upscale":
        factor = given.get("factor", 4)
        if size % factor:
            raise UserError(f"--factor={factor}: must divide {size}")
        return functools.partial(_coarse, factor=factor)
    mask = _mask(given.get("mask", "center"), size)
    return lambda x: x * mask


def _coarse(x, factor):
    """Means of squares, at full size: the gradient keeps its scale so."""
    import tensorflow as tf

    small = tf.nn.avg_pool2d(x, factor, factor, "VALID")
    return tf.repeat(tf.repeat(small, factor, axis=1), factor, axis=2)


def _mask(name, size):
    """float32 [size, size, 1]: 1 where pixels are known."""
    import numpy as np

    mask = np.ones([size, size, 1], np.float32)
    if name == "center":
        mask[size // 4 : -size // 4, size // 4 : -size // 4] = 0
    elif name == "left":
        mask[:, : size // 2] = 0
    else:
        try:
            mask = pixels.square(pathlib.Path(name), (size, size, 1))
        except OSError as error:
            raise UserError(
                f"--mask={name}: must be center, left or a picture ({error})"
            ) from None
        mask = (mask > 127).astype(np.float32)
    return mask


def _in_batches(model, x, settings, batch=50):
    import numpy as np
    from tqdm import tqdm

    parts = []
    starts = range(0, len(x), batch)
    for i in tqdm(starts, unit=" batches", delay=2, disable=len(starts) == 1):
        some = x[i : i + batch]
        seeds = range(i, i + len(some))
        parts.append(model.reconstruct(some, seeds=seeds, **settings))
    joined = [
        np.concatenate(p, axis)
        for p, axis in zip(zip(*parts, strict=True), (0, 0, 1, 1), strict=True)
    ]
    return type(parts[0])(*joined)


def _report(model, x, known, found, keep, rule, task, out):
    import numpy as np

    from srmcmc_tf import plots
    from srmcmc_tf.evaluation import image_sets

    whole = np.mean((found.x - x) ** 2, axis=(1, 2, 3))
    start = np.mean((found.frames[0] - x) ** 2, axis=(1, 2, 3))
    iterations = len(found.mse) - 1
    result = {
        "identity": image_sets.digest(model),
        "task": task,
        "rule": rule,
        "n": len(x),
        "iterations": iterations,
        "range": "[-1, 1]",
        "mse": float(whole.mean()),
        "mse_standard_error": float(whole.std() / np.sqrt(len(x))),
        "mse_at_start": float(start.mean()),
        "loss_per_pixel": float(found.mse[-1].mean()),
        "mse_in_unit_range": float(whole.mean() / 4),
    }
    name = "reconstruction" if task == "whole" else task
    (out / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")
    np.savez(
        out / f"{name}.npz",
        x=x,
        reconstruction=found.x,
        z=found.z,
        mse=found.mse,
    )
    rows = np.concatenate([found.frames, np.asarray(x)[None]])[:, :8]
    labels = [f"t={t}" for t in keep] if iterations else ["decoded"]
    labels.append("observed")
    if task != "whole":
        rows = np.concatenate([rows, np.asarray(known)[None, :8]])
        labels.append("known")
    plots.save_table(out / f"{name}.png", rows.swapaxes(0, 1), labels)
    begun = f"; {result['mse_at_start']:.4f} at the start" if iterations else ""
    print(
        f"MSE per pixel and channel, images in [-1, 1]: {result['mse']:.4f} "
        f"(+- {result['mse_standard_error']:.4f}, n={len(x)}{begun})"
    )
    print(f"{out / name}.png, .json, .npz")

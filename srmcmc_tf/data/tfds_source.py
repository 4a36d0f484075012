"""Datasets of TensorFlow Datasets, prepared by it where they are missing."""

import os
import pathlib
import socket
from collections.abc import Iterable, Iterator
from typing import Any

from srmcmc_tf.config.fields import suggest
from srmcmc_tf.data import sources
from srmcmc_tf.data.sources import Entry, Source
from srmcmc_tf.errors import UserError, reason
from srmcmc_tf.files import paths

# Where TFDS downloads from, what to download by hand if that fails, and what
# else to do.
_DOWNLOADS = {
    "mnist": (
        "storage.googleapis.com",
        "the four MNIST idx files (train-images-idx3-ubyte.gz, ...)",
        "",
    ),
    "fashion_mnist": (
        "fashion-mnist.s3-website.eu-central-1.amazonaws.com",
        "the four Fashion-MNIST idx files (train-images-idx3-ubyte.gz, ...)",
        "",
    ),
    "cifar10": (
        "www.cs.toronto.edu",
        "cifar-10-binary.tar.gz from https://www.cs.toronto.edu/~kriz",
        "",
    ),
    "celeb_a": (
        "drive.google.com",
        "img_align_celeba.zip, list_eval_partition.txt, "
        "list_landmarks_align_celeba.txt and list_attr_celeba.txt from "
        "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",
        "; or give --data_dir=FOLDER, a folder of the images",
    ),
}


def source(name: str, path: pathlib.Path | None) -> Source:
    """Returns a dataset's training split, downloaded where it is missing.

    Its labels are those of the feature `label`, or of its only class label.

    Args:
        name: its name in TFDS, as in `tfds.builder`: also with a config
            ("imagenet_resized/32x32") or a version ("mnist:3.0.1").
        path: the directory of TFDS's datasets; by default TFDS's own.
    """
    import tensorflow as tf
    import tensorflow_datasets as tfds  # takes seconds

    place = path or directory()
    try:
        builder = tfds.builder(name, data_dir=str(place))
    except Exception as error:  # of many kinds; some have hundreds of lines
        first, *others = str(error).strip().splitlines() or [repr(error)]
        first = first.rpartition('}": ')[2]  # without the arguments
        hint = suggest(name, [line.strip("\t -") for line in others])
        raise UserError(f"--dataset=tfds:{name}: {first[:200]}{hint}") from None
    image, label = _features(name, builder.info.features)
    if not builder.is_prepared():
        _prepare(builder, place)
    splits = builder.info.splits
    if "train" not in splits:
        raise UserError(
            f"--dataset=tfds:{name}: it has no split `train`, only "
            f"{', '.join(splits) or 'none'}"
        )

    def read(indices: Iterable[int]) -> Iterator[Entry]:
        # Undecoded, so that images which are skipped cost nothing.
        skip = {image: tfds.decode.SkipDecoding()}
        examples = builder.as_dataset(
            split="train", decoders=skip, shuffle_files=False
        )
        try:
            for i, example in sources.chosen(examples, indices):
                number = int(example[label]) if label else None
                yield Entry(i, f"{name} {i}", example[image].numpy(), number)
        except tf.errors.OpError as error:  # such as a file that was cut off
            raise UserError(
                f"{builder.data_dir} is damaged ({reason(error)}); remove it, "
                "and TFDS prepares it again"
            ) from None

    # Prepared again, it may hold other images.
    files = sorted(pathlib.Path(builder.data_dir).iterdir())
    stamps = " ".join(f"{file.name} {paths.stamp(file)}" for file in files)
    return Source(
        splits["train"].num_examples,
        f"{builder.data_dir} {builder.info.full_name} {stamps}",
        read,
        tuple(builder.info.features[label].names) if label else (),
    )


def _features(name: str, features: Any) -> tuple[str, str | None]:
    """The names of the feature of the images, and of their labels."""
    import tensorflow_datasets as tfds

    def of_type(kind: type) -> list[str]:
        return [key for key in features if isinstance(features[key], kind)]

    images = of_type(tfds.features.Image)
    # Images of floats are stored as bytes of PNG pixels.
    images = [key for key in images if "int" in str(features[key].dtype)]
    labels = of_type(tfds.features.ClassLabel)
    image = "image" if "image" in images else images[0] if images else ""
    if len(images) > 1 and image != "image" or not image:
        found = ", ".join(images) or "none"
        raise UserError(
            f"--dataset=tfds:{name}: needs one feature of images, or one named "
            f"`image`; it has {found}"
        )
    if "label" in labels or len(labels) == 1:
        return image, "label" if "label" in labels else labels[0]
    return image, None


def _prepare(builder: Any, place: pathlib.Path) -> None:
    import tensorflow_datasets as tfds

    name = builder.name
    manual = place / "downloads" / "manual"
    host, files, folder = _DOWNLOADS.get(name, ("its site", "its files", ""))
    try:
        if name in _DOWNLOADS and not manual.is_dir():
            # Fails at once without a network; TFDS would try for minutes.
            socket.create_connection((host, 80), timeout=10).close()
        builder.download_and_prepare(
            download_config=tfds.download.DownloadConfig(manual_dir=str(manual))
        )
    except Exception as error:  # anything may go wrong on the network
        reason = (str(error).strip() or repr(error)).splitlines()[0][:100]
        raise UserError(
            f"{name} is not in {place} and its download from {host} "
            f"failed ({reason}). Download {files} into {manual} and start "
            f"again{folder}"
        ) from None


def directory() -> pathlib.Path:
    """Returns TFDS's default directory, without importing it."""
    chosen = os.environ.get("TFDS_DATA_DIR")
    return pathlib.Path(chosen or paths.home() / "tensorflow_datasets")


def is_prepared(path: pathlib.Path, name: str) -> bool:
    """Whether a directory is TFDS's, rather than a folder of images."""
    prepared = any(path.glob(f"{name}/*/dataset_info.json"))
    return prepared or (path / "downloads").is_dir()

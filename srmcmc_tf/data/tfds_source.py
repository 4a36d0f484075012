"""Datasets of TensorFlow Datasets, prepared by it where they are missing."""

import os
import pathlib
import socket
from collections.abc import Iterable, Iterator

from srmcmc_tf.data import sources
from srmcmc_tf.data.sources import Entry, Source
from srmcmc_tf.errors import UserError

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

    Args:
        name: its name in TFDS.
        path: the directory of TFDS's datasets; by default TFDS's own.
    """
    import tensorflow_datasets as tfds  # takes seconds

    place = path or directory()
    builder = tfds.builder(name, data_dir=str(place))
    if not builder.is_prepared():
        manual = place / "downloads" / "manual"
        host, files, folder = _DOWNLOADS.get(
            name, ("its site", "its files", "")
        )
        try:
            if name in _DOWNLOADS and not manual.is_dir():
                # Fails at once without a network; TFDS would try for minutes.
                socket.create_connection((host, 80), timeout=10).close()
            builder.download_and_prepare(
                download_config=tfds.download.DownloadConfig(
                    manual_dir=str(manual)
                )
            )
        except Exception as error:  # anything may go wrong on the network
            reason = (str(error).strip() or repr(error)).splitlines()[0][:100]
            raise UserError(
                f"{name} is not in {place} and its download from {host} "
                f"failed ({reason}). Download {files} into {manual} and start "
                f"again{folder}"
            ) from None

    def read(indices: Iterable[int]) -> Iterator[Entry]:
        # Undecoded, so that images which are skipped cost nothing.
        skip = {"image": tfds.decode.SkipDecoding()}
        examples = builder.as_dataset(
            split="train", decoders=skip, shuffle_files=False
        )
        entries = (
            (f"{name} {i}", example["image"])
            for i, example in enumerate(examples)
        )
        for i, label, image in sources.chosen(entries, indices):
            yield i, label, image.numpy()

    info = builder.info
    size = info.splits["train"].num_examples
    return Source(size, f"{builder.data_dir} {info.full_name}", read)


def directory() -> pathlib.Path:
    """Returns TFDS's default directory, without importing it."""
    default = pathlib.Path.home() / "tensorflow_datasets"
    return pathlib.Path(os.environ.get("TFDS_DATA_DIR", default))


def is_prepared(path: pathlib.Path, name: str) -> bool:
    """Whether a directory is TFDS's, rather than a folder of images."""
    prepared = any(path.glob(f"{name}/*/dataset_info.json"))
    return prepared or (path / "downloads").is_dir()

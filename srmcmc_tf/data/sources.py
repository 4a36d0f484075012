"""Where images come from: a folder, TFDS, LSUN's lmdb, scikit-learn.

A source is a `Source`: how many images it has, a name for its contents, and a
function that reads one of them. `data.load` chooses, decodes and caches.
"""

import hashlib
import os
import pathlib
import socket
from collections.abc import Callable, Iterable
from typing import NamedTuple

from srmcmc_tf.errors import UserError

# Whence TFDS downloads, and what to fetch by hand where that is refused.
_DOWNLOADS = {
    "mnist": (
        "storage.googleapis.com",
        "the four MNIST idx files (train-images-idx3-ubyte.gz, ...)",
    ),
    "fashion_mnist": (
        "fashion-mnist.s3-website.eu-central-1.amazonaws.com",
        "the four Fashion-MNIST idx files (train-images-idx3-ubyte.gz, ...)",
    ),
    "cifar10": (
        "www.cs.toronto.edu",
        "cifar-10-binary.tar.gz from https://www.cs.toronto.edu/~kriz",
    ),
    "celeb_a": (
        "drive.google.com",
        "img_align_celeba.zip, list_eval_partition.txt, "
        "list_landmarks_align_celeba.txt and list_attr_celeba.txt from "
        "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",
    ),
}


class Source(NamedTuple):
    """A numbered collection of images.

    Attributes:
        size: number of entries, readable or not.
        identity: text that changes when the contents do.
        read: indices, in increasing order, to (index, name, content) triples,
            lazily; the content is a file's path, its bytes, or a uint8 array
            [h, w, c].
    """

    size: int
    identity: str
    read: Callable[[Iterable[int]], Iterable[tuple]]


def find(config):
    """The `Source` that a config names; `UserError` where it is missing."""
    name = config.dataset
    if name == "digits":
        if config.data_dir:
            raise UserError(
                "--data_dir: the digits are embedded; for images of your own "
                "add --dataset=folder"
            )
        return _digits()
    path = (
        pathlib.Path(config.data_dir).expanduser() if config.data_dir else None
    )
    if path and not path.is_dir():
        raise UserError(
            f"--data_dir={config.data_dir}: no such directory; where they were "
            "moved, `bin/train --workdir=RUN --data_dir=PATH` tells a run"
        )
    if name == "folder":
        if not path:
            raise UserError("--dataset=folder needs --data_dir=FOLDER")
        return _folder(path)
    if name == "lsun_bedroom":
        return _lsun(path)
    name = name.removesuffix("_128")
    if name == "celeb_a" and path and not _is_tfds(path, name):
        return _folder(path)
    return _tfds(name, path)


def _digits():
    import numpy as np
    from sklearn import datasets

    # 17 grey levels, bright on dark.
    images = np.round(datasets.load_digits().images * (255 / 16))
    images = images.astype(np.uint8)[..., np.newaxis]
    return Source(
        len(images),
        "scikit-learn",
        lambda indices: ((i, f"digit {i}", images[i]) for i in indices),
    )


def _folder(path):
    files = sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(path)
        for name in names
        if not name.startswith(".")
        and os.path.isfile(os.path.join(folder, name))
    )
    if not files:
        raise UserError(f"{path} holds no files; put the images there")
    digest = hashlib.sha256()
    for file in files:
        stat = os.stat(file)
        digest.update(f"{file} {stat.st_size} {stat.st_mtime_ns}\n".encode())

    def read(indices):
        return ((i, files[i], pathlib.Path(files[i])) for i in indices)

    return Source(len(files), digest.hexdigest(), read)


def _lsun(path):
    path = path or _tfds_dir() / "lsun_bedroom"
    for place in (path, path / "bedroom_train_lmdb"):
        if (place / "data.mdb").exists():
            return _lmdb(place)
    if path.is_dir():
        return _folder(path)
    raise UserError(
        "lsun_bedroom has to be fetched by hand: download "
        "http://dl.yf.io/lsun/scenes/bedroom_train_lmdb.zip (43 GB) and "
        f"unpack it in {path}, or put a folder of images there; --data_dir "
        "names another place"
    )


def _lmdb(path):
    import lmdb

    try:
        database = lmdb.open(str(path), readonly=True, lock=False)
        size = database.stat()["entries"]
    except lmdb.Error as error:
        raise UserError(f"{path}: not a readable lmdb: {error}") from None

    def read(indices):
        # Keys are in order but not numbered: one walk, passing some by.
        wanted = iter(indices)
        want = next(wanted, None)
        with database.begin(buffers=True) as transaction:
            for i, (key, value) in enumerate(transaction.cursor()):
                if i == want:
                    yield i, bytes(key).decode(errors="replace"), bytes(value)
                    want = next(wanted, None)
                if want is None:
                    return

    return Source(size, f"{path} {os.path.getsize(path / 'data.mdb')}", read)


def _tfds_dir():
    """TFDS's own default, without the seconds that importing it takes."""
    default = pathlib.Path.home() / "tensorflow_datasets"
    return pathlib.Path(os.environ.get("TFDS_DATA_DIR", default))


def _is_tfds(path, name):
    """Whether a directory is TFDS's, rather than a folder of images."""
    prepared = any(path.glob(f"{name}/*/dataset_info.json"))
    return prepared or (path / "downloads").is_dir()


def _tfds(name, path):
    import tensorflow_datasets as tfds

    directory = path or _tfds_dir()
    builder = tfds.builder(name, data_dir=str(directory))
    if not builder.is_prepared():
        manual = directory / "downloads" / "manual"
        host, files = _DOWNLOADS[name]
        try:
            if not manual.is_dir():  # TFDS would try for minutes
                socket.create_connection((host, 80), timeout=10).close()
            builder.download_and_prepare(
                download_config=tfds.download.DownloadConfig(
                    manual_dir=str(manual)
                )
            )
        except Exception as error:  # anything may go wrong on the network
            reason = (str(error).strip() or repr(error)).splitlines()[0][:100]
            folder = "; or give --data_dir=FOLDER, a folder of the images"
            raise UserError(
                f"{name} is not in {directory} and its download from {host} "
                f"failed ({reason}). Download {files} into {manual} and start "
                f"again{folder if name == 'celeb_a' else ''}"
            ) from None

    def read(indices):
        # Undecoded, so that images which are passed by cost nothing.
        skip = {"image": tfds.decode.SkipDecoding()}
        examples = builder.as_dataset(
            split="train", decoders=skip, shuffle_files=False
        )
        wanted = iter(indices)
        want = next(wanted, None)
        for i, example in enumerate(examples):
            if i == want:
                yield i, f"{name} {i}", example["image"].numpy()
                want = next(wanted, None)
            if want is None:
                return

    info = builder.info
    size = info.splits["train"].num_examples
    return Source(size, f"{builder.data_dir} {info.full_name}", read)

"""What is known of each dataset: how it is read, its license, what it holds.

To add a dataset, add a record here and its settings in `configs/NAME.py`; a
new kind of file also needs a reader in `data/sources.py`.
"""

import re
from typing import NamedTuple


class Dataset(NamedTuple):
    """One value of `--dataset`.

    Attributes:
        name: as in `--dataset` and `configs/NAME.py`.
        reader: key of `data.sources.READERS`; none for toys, which are drawn.
        license: of the data, as their authors state it.
        tfds: its name in TensorFlow Datasets, where it is read from there.
        gray: whether its images are gray, so that Inception does not suit.
        toys: the densities it can draw points from; none for images.
        dimension: of its points; 0 for images.
    """

    name: str
    reader: str = ""
    license: str = "not known here"
    tfds: str = ""
    gray: bool = False
    toys: tuple[str, ...] = ()
    dimension: int = 0

    @property
    def file_name(self) -> str:
        """The name, fit for files and directories."""
        return re.sub(r"[^\w.-]+", "_", self.name)

    @property
    def points(self) -> bool:
        """Whether the examples are points [d] instead of images [h, w, c]."""
        return bool(self.toys)


_CELEB_A = (
    "non-commercial research only, not to be passed on (MMLab, The Chinese "
    "University of Hong Kong)"
)

DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "digits",
            "digits",
            "CC BY 4.0 (E. Alpaydin and C. Kaynak, Optical Recognition of "
            "Handwritten Digits, UCI, 1998)",
            gray=True,
        ),
        Dataset(
            "mnist",
            "tfds",
            "CC BY-SA 3.0 (Y. LeCun and C. Cortes)",
            tfds="mnist",
            gray=True,
        ),
        Dataset(
            "fashion_mnist",
            "tfds",
            "MIT (Zalando SE)",
            tfds="fashion_mnist",
            gray=True,
        ),
        Dataset(
            "cifar10",
            "tfds",
            "none stated; its author asks for a citation (A. Krizhevsky, "
            "Learning Multiple Layers of Features from Tiny Images, 2009)",
            tfds="cifar10",
        ),
        Dataset("celeb_a", "celeb_a", _CELEB_A, tfds="celeb_a"),
        Dataset("celeb_a_128", "celeb_a", _CELEB_A, tfds="celeb_a"),
        Dataset(
            "lsun_bedroom",
            "lsun",
            "none stated; the photographs are their owners' (F. Yu et al., "
            "LSUN, 2015)",
        ),
        Dataset(
            "folder",
            "folder",
            "not known here: the images were the trainer's own",
        ),
        Dataset(
            "tfds",
            "tfds",
            "as its page in the catalog of TensorFlow Datasets states",
        ),
        Dataset("toy_1d", toys=("mixtures",), dimension=1),
        Dataset(
            "toy_2d",
            toys=("mixtures", "rings", "spirals", "checkerboard", "pinwheel"),
            dimension=2,
        ),
    )
}


def is_name(name: str) -> bool:
    """Whether `--dataset` may be this: a dataset's name, or `tfds:NAME`."""
    # Some characters less than TFDS would allow: it is part of messages.
    return name in DATASETS or bool(re.fullmatch(r"tfds:[\w./:*-]+", name))


def get(name: str) -> Dataset:
    """Returns the record of a dataset, or of any images of TFDS."""
    if name in DATASETS:
        return DATASETS[name]
    tfds = DATASETS["tfds"]
    return tfds._replace(name=name, tfds=name.removeprefix("tfds:"))

import pytest
from helpers import random_images, untrained_run, write_images

from srmcmc_tf.errors import UserError
from srmcmc_tf.generation import labels


@pytest.fixture(scope="module")
def cats_and_dogs(tmp_path_factory):
    """A conditional run of a folder with a subfolder per class; its model."""
    folder = tmp_path_factory.mktemp("animals")
    for i, name in enumerate(("cat", "dog")):
        write_images(folder / name, random_images(8, seed=i))
    run = untrained_run(
        folder.parent / "run",
        dataset="folder",
        data_dir=str(folder),
        image_size=8,
        channels=1,
        conditional="on",
        classes=2,
    )
    return run, run.load_model()


def test_names_are_those_of_the_data(cats_and_dogs):
    assert labels.numbers(*cats_and_dogs, ["dog", "cat"]) == [1, 0]
    assert labels.numbers(*cats_and_dogs, [1]) == [1]


def test_each_class_gets_all_seeds(cats_and_dogs):
    seeds, y = labels.pairs(*cats_and_dogs, range(3, 6), ["dog", "cat"])
    assert seeds == [3, 4, 5, 3, 4, 5] and y == [1, 1, 1, 0, 0, 0]
    seeds, y = labels.pairs(*cats_and_dogs, range(3, 6), None)
    assert seeds == [3, 4, 5] and y == [1, 0, 1]


@pytest.mark.parametrize(
    "given, line",
    [
        (["dgo"], "--labels=dgo: the classes are cat, dog; did you mean 'dog'"),
        ([2], "--labels=2: must be from 0 to 1"),
    ],
)
def test_classes_that_there_are_not_are_one_line(cats_and_dogs, given, line):
    with pytest.raises(UserError, match=line):
        labels.numbers(*cats_and_dogs, given)


def test_a_run_without_classes_has_no_labels(tiny_run):
    model = tiny_run.load_model()
    assert labels.pairs(tiny_run, model, range(2), None) == ([0, 1], None)
    with pytest.raises(UserError, match="not conditional; train with --cond"):
        labels.numbers(tiny_run, model, [1])

from helpers import ROOT

from srmcmc_tf.config.datasets import DATASETS
from srmcmc_tf.data import sources


def test_every_dataset_has_settings_and_every_setting_a_dataset():
    configs = {path.stem for path in (ROOT / "configs").glob("*.py")}
    assert configs == set(DATASETS)


def test_images_have_a_reader_and_points_are_drawn():
    for dataset in DATASETS.values():
        if dataset.points:
            assert dataset.dimension in (1, 2) and not dataset.reader
        else:
            assert dataset.reader in sources.READERS and not dataset.dimension
            assert dataset.license

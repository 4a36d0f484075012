import numpy as np
import pytest
from helpers import untrained_run
from PIL import Image

from srmcmc_tf.errors import UserError
from srmcmc_tf.generation import sample


def test_samples_are_those_of_the_model(tiny_run, tmp_path):
    seeds = range(3, 10)
    found = sample.sample(tiny_run, seeds=seeds, out=tmp_path, singles=True)
    model = tiny_run.load_model()
    arrays = np.load(found.file)
    assert arrays["x"].dtype == np.float32
    assert list(arrays["seeds"]) == list(seeds)
    np.testing.assert_allclose(arrays["x"], model.sample(seeds), atol=1e-5)
    np.testing.assert_array_equal(arrays["z"], model.start(seeds))
    assert found.picture.exists() and not found.trace
    assert sorted(found.singles) == sorted(tmp_path.glob("seed_*.png"))
    assert len(found.singles) == 7


def test_K_and_noise_are_those_asked_for(tiny_run, tmp_path):
    found = sample.sample(
        tiny_run, seeds=[1, 2], K=7, deterministic=True, out=tmp_path
    )
    expected = tiny_run.load_model().sample([1, 2], K=7, noise=0.0)
    np.testing.assert_allclose(np.load(found.file)["x"], expected, atol=1e-5)


def test_files_go_to_the_run_by_default(tiny_run):
    found = sample.sample(tiny_run, seeds=[0])
    assert found.file.parent == tiny_run.generated_directory


def test_a_trace_is_a_strip_and_an_animation(tiny_run, tmp_path):
    found = sample.sample(tiny_run, out=tmp_path, trace=True)
    assert found.steps == [0, 1, 2, 3]
    strip, animation = found.trace
    assert strip.exists() and Image.open(animation).n_frames == 4


def test_points_are_plotted(tmp_path):
    run = untrained_run(tmp_path / "toy", dataset="toy_2d", toy="rings")
    found = sample.sample(run, seeds=range(5), out=tmp_path)
    assert found.picture.name == "points.png" and found.picture.exists()
    assert np.load(found.file)["x"].shape == (5, 2)


def test_a_table_measures_the_saturation_for_each_K(tiny_run, tmp_path):
    found = sample.table(tiny_run, seeds=range(20), K=[0, 2, 60], out=tmp_path)
    assert found.picture.exists() and found.seeds == 16
    assert list(found.outside) == [0, 2, 60] and found.outside[0] == 0.0
    x = tiny_run.load_model().sample(range(16), K=60).numpy()
    assert found.outside[60] == pytest.approx((np.abs(x) > 1).mean(), abs=1e-3)


def test_the_K_of_a_table_must_increase(tiny_run, tmp_path):
    with pytest.raises(UserError, match="must increase"):
        sample.table(tiny_run, seeds=[0], K=[3, 2], out=tmp_path)


def test_a_conditional_run_gets_a_row_per_class(tmp_path):
    run = untrained_run(tmp_path / "run", conditional="on", classes=10)
    found = sample.sample(
        run, seeds=[4, 5], labels=[7, 0, 7], out=tmp_path, singles=True
    )
    arrays = np.load(found.file)
    assert list(arrays["labels"]) == [7, 7, 0, 0, 7, 7]
    expected = run.load_model().sample([4, 5], labels=[0, 0])
    np.testing.assert_allclose(arrays["x"][2:4], expected, atol=1e-5)
    width, height = Image.open(found.picture).size
    assert width > height  # two rows of images, the first of four
    assert (tmp_path / "seed_000004_label_7.png").exists()

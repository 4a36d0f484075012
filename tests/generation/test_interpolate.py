import numpy as np
from helpers import untrained_run

from srmcmc_tf.generation import interpolate


def test_rows_lead_from_one_sample_to_another(tmp_path):
    run = untrained_run(tmp_path / "run")
    found = interpolate.interpolate(run, pairs=3, columns=5, out=tmp_path)
    arrays = np.load(found.file)
    assert arrays["x"].shape == (3, 5, 8, 8, 1) and found.picture.exists()
    ends = run.load_model().sample(range(6), noise=0.0)
    np.testing.assert_allclose(arrays["x"][:, 0], ends[::2], atol=1e-5)
    np.testing.assert_allclose(arrays["x"][:, -1], ends[1::2], atol=1e-5)
    np.testing.assert_array_equal(arrays["smoothness"], found.smoothness)
    assert found.straight == 0.25 and (found.smoothness >= 0.25).all()


def test_smoothness_is_the_largest_jump_over_the_distance():
    path = np.array([0.0, 1.0, 4.0, 5.0]).reshape(1, 4, 1, 1, 1)
    np.testing.assert_allclose(interpolate.smoothness(path), [3 / 5])

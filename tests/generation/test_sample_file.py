import numpy as np
import pytest

from srmcmc_tf.generation import sample_file


def test_an_interrupted_call_is_resumed(tmp_path):
    calls = []

    def draw(some):
        if len(calls) == 2:
            calls.append("stop")
            raise KeyboardInterrupt
        calls.append(some)
        x = np.float32(some).reshape(-1, 1)
        return x, -x

    def write():
        sample_file.write(
            tmp_path / "s.npz",
            draw,
            list(range(10)),
            shape=(1,),
            z_shape=(1,),
            request={"K": 3},
            batch=4,
        )

    with pytest.raises(KeyboardInterrupt):
        write()
    write()
    assert calls == [[0, 1, 2, 3], [4, 5, 6, 7], "stop", [8, 9]]
    arrays = np.load(tmp_path / "s.npz")
    np.testing.assert_array_equal(arrays["x"].ravel(), range(10))
    np.testing.assert_array_equal(arrays["z"], -arrays["x"])
    assert [p.name for p in tmp_path.iterdir()] == ["s.npz"]


def test_the_partial_result_of_another_request_is_deleted(tmp_path):
    def draw(some):
        return np.ones([len(some), 1]), np.ones([len(some), 2])

    (tmp_path / "s.part-0123").mkdir()
    sample_file.write(
        tmp_path / "s.npz",
        draw,
        [1, 2],
        shape=(1,),
        z_shape=(2,),
        request={},
    )
    assert [p.name for p in tmp_path.iterdir()] == ["s.npz"]
    assert np.load(tmp_path / "s.npz")["z"].shape == (2, 2)

from srmcmc_tf.benchmarks import metrics


def test_without_weights_the_distance_is_timed_and_the_reason_given(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(metrics, "distance", lambda features: f"{features}")
    lines = list(metrics.inception(str(tmp_path / "none.npz")))
    assert lines[0] == "2048"
    assert len(lines) == 2 and "none.npz" in lines[1]


def test_the_distance_is_timed():
    line = metrics.distance(8, n=16)
    assert line.startswith("the distance of 8 features from their moments: ")
    assert float(line.split()[-2]) >= 0.0

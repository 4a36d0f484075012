from srmcmc_tf.benchmarks import cpu_time


def test_cpu_seconds_add_up_over_calls(tmp_path):
    path = tmp_path / "cpu_seconds.json"
    for _ in range(2):
        with cpu_time.added_to(path):
            sum(range(10**6))
    total = cpu_time.read(path)
    with cpu_time.added_to(path):
        pass
    assert 0 < total <= cpu_time.read(path)

import json
import socket

import pytest

from srmcmc_tf.benchmarks import workers
from srmcmc_tf.runs.run import Run


def test_free_addresses_are_free_and_all_different():
    addresses = workers.free_addresses(5)
    assert len(set(addresses)) == 5
    for address in addresses:
        host, port = address.split(":")
        socket.create_server((host, int(port))).close()


def test_the_kernel_counts_what_is_sent_over_loopback():
    before = workers.loopback_bytes()
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            client.sendall(bytes(1000))
            taken, _ = server.accept()
            with taken:
                assert len(taken.recv(1000)) > 0
    assert workers.loopback_bytes() - before >= 1000


def test_the_time_of_an_update_is_the_median(tmp_path):
    run = Run(tmp_path)
    speeds = [1.0, 2.0, 10.0]
    lines = [
        json.dumps({"update": i, "updates_per_second": speed}) + "\n"
        for i, speed in enumerate(speeds, 1)
    ]
    run.metrics_file.write_text("".join(lines))
    assert workers.seconds_per_update(run) == pytest.approx(0.5)


def test_a_failed_worker_is_an_error(tmp_path):
    (tmp_path / "something").write_text("else")  # no run: it is refused
    with pytest.raises(RuntimeError, match="a worker failed"):
        workers._run([{}], tmp_path, 1)

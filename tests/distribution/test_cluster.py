import json
import socket
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import VALUES

from srmcmc_tf.benchmarks.workers import free_addresses
from srmcmc_tf.distribution import cluster
from srmcmc_tf.errors import UserError


def config(index=0, kind="worker", **jobs):
    jobs = jobs or {"worker": ["a:2222", "b:2222"]}
    return json.dumps({"cluster": jobs, "task": {"type": kind, "index": index}})


def team(addresses, index=0):
    names = tuple(f"worker {i}" for i in range(len(addresses)))
    return cluster.Cluster(names, addresses, index)


def test_the_chief_comes_first_whatever_the_order_of_the_jobs():
    jobs = {"worker": ["a:1", "b:1"], "chief": ["c:1"]}
    found = cluster.read(config(1, **jobs))
    assert found.names == ("chief 0", "worker 0", "worker 1")
    assert found.addresses == ("c:1", "a:1", "b:1") and found.index == 2
    assert not found.is_chief
    assert cluster.read(config(0, "chief", **jobs)).is_chief


@pytest.mark.parametrize(
    "text, message",
    [
        ("{cluster", "is not JSON"),
        ("[]", "needs 'cluster', an object"),
        ('{"cluster": {}}', "needs 'task', an object"),
        ('{"cluster": {}, "task": {}}', "needs 'type', text"),
        (config(**{"worker": "a:1"}), "needs 'worker', a list"),
        (
            config(2),
            "the task worker 2, but its cluster has only worker 0, worker 1",
        ),
        (config(None), "the task worker None"),
        (config(0, "chief"), "the task chief 0"),
        (config(**{"worker": ["a:1"], "ps": ["b:1"]}), "has 'ps'"),
        (config(**{"worker": ["a"]}), "address 'a': must be host:port"),
        (config(**{"worker": ["a:70000"]}), "must be host:port"),
        (config(**{"worker": [7]}), "must be host:port"),
        (config(**{"worker": ["a:1", "a:1"]}), "the same address"),
    ],
)
def test_a_wrong_tf_config_is_explained_in_one_line(text, message):
    with pytest.raises(UserError) as error:
        cluster.read(text)
    assert message in str(error.value) and "\n" not in str(error.value)
    assert 'like {"cluster"' in str(error.value)


def test_a_strategy_asks_for_tf_config_or_not(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", config(1))
    for strategy in ("auto", "multi_worker"):
        assert cluster.from_environment(strategy).index == 1
    for strategy in ("one", "mirrored"):
        assert cluster.from_environment(strategy) is None
    monkeypatch.delenv("TF_CONFIG")
    assert cluster.from_environment("auto") is None
    with pytest.raises(UserError, match="multi_worker needs TF_CONFIG"):
        cluster.from_environment("multi_worker")


def test_workers_that_come_at_different_times_meet():
    addresses = free_addresses(3)
    met = []

    def come(index):
        time.sleep(0.3 * index)
        cluster.wait_for_workers(team(addresses, index), patience=20)
        # As TensorFlow does: it takes the port as soon as all are there.
        met.append(socket.create_server(("", int(addresses[index][10:]))))

    threads = [threading.Thread(target=come, args=[i]) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(met) == 3
    for s in met:
        s.close()


def test_a_worker_that_does_not_come_is_named_after_a_stated_time():
    addresses = free_addresses(2)
    begin = time.monotonic()
    with pytest.raises(UserError) as error:
        cluster.wait_for_workers(team(addresses), patience=1)
    assert 1 <= time.monotonic() - begin < 5
    assert f"worker 1 ({addresses[1]})" in str(error.value)
    assert "did not start within 1 s" in str(error.value)


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port}, which TF_CONFIG"):
            cluster.wait_for_workers(team((f"localhost:{port}",)))


ADDRESSES = VALUES | st.sampled_from(
    ["a:1", "b:2", "[::1]:5", ":5", "a", "a:99999", "a:²", "a:" + "9" * 5000]
)


@given(
    st.text()
    | VALUES.map(json.dumps)
    | st.just("[" * 100_000)
    | st.builds(
        lambda addresses, kind, index: config(index, kind, worker=addresses),
        st.lists(ADDRESSES, max_size=3),
        st.sampled_from(["worker", "chief"]) | VALUES,
        st.integers(-1, 3) | VALUES,
    )
)
def test_any_text_is_a_cluster_or_one_error(text):
    try:
        found = cluster.read(text)
    except UserError as error:
        assert "TF_CONFIG" in str(error)
        return
    assert 0 <= found.index < len(found.names) == len(found.addresses)

"""Two workers, one of them killed, stopped or cut off at random moments."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from helpers import ROOT, assert_same_run, flags, wait_for

from srmcmc_tf.benchmarks.workers import free_addresses

pytestmark = pytest.mark.faults
RUN = dict(updates=30, checkpoint_every=3, sample_every=15)
# Seconds until the others end, and those a busy machine takes to end a process:
# the sum is in docs/distributed.md.
NOTICED, ENDING = 120, 60
CASES = [
    *(("kill", 0), ("kill", 1), ("kill", 0), ("kill", 1)),
    *(("stop", 0), ("stop", 1), ("stop", 1)),
    *(("cut", 0), ("cut", 1), ("cut", 1)),
]
SPACE, OURS, THEIRS = "srmcmc_faults", "srmcmc_f0", "srmcmc_f1"


def shell(*commands):
    for command in commands:
        subprocess.run(command.split(), check=True, capture_output=True)


@pytest.fixture
def network():
    """A network of its own for the second worker, whose cable can be cut."""
    try:
        shell(
            f"ip netns add {SPACE}",
            f"ip link add {OURS} type veth peer name {THEIRS}",
            f"ip link set {THEIRS} netns {SPACE}",
            f"ip addr add 10.77.0.1/30 dev {OURS}",
            f"ip link set {OURS} up",
            f"ip -n {SPACE} addr add 10.77.0.2/30 dev {THEIRS}",
            f"ip -n {SPACE} link set {THEIRS} up",
            f"ip -n {SPACE} link set lo up",
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"networks cannot be made here: {error}")
    yield ["10.77.0.1", "10.77.0.2"]
    subprocess.run(["ip", "netns", "del", SPACE], check=True)


def start(workdir, hosts=("localhost", "localhost")):
    """Starts two workers; the second in the other network, if there is one."""
    ports = [address.rpartition(":")[2] for address in free_addresses(2)]
    jobs = [f"{host}:{port}" for host, port in zip(hosts, ports, strict=True)]
    processes = []
    for i in range(2):
        task = {"type": "worker", "index": i}
        config = {"cluster": {"worker": jobs}, "task": task}
        inside = ["ip", "netns", "exec", SPACE] if hosts[0] != hosts[1] else []
        command = [sys.executable, ROOT / "bin" / "train"]
        command += [f"--workdir={workdir}", *flags(**RUN)]
        processes.append(
            subprocess.Popen(
                [*(inside if i else []), *command],
                env={**os.environ, "TF_CONFIG": json.dumps(config)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    return processes


def end(processes, timeout):
    """Exit codes and stderr; none is left behind."""
    try:
        found = []
        for process in processes:
            _, err = process.communicate(timeout=timeout)
            found.append((process.returncode, err))
        return found
    finally:
        for process in processes:
            process.kill()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The run of two workers that nothing happened to."""
    workdir = tmp_path_factory.mktemp("workers") / "run"
    assert [code for code, _ in end(start(workdir), 300)] == [0, 0]
    return workdir


@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_lost_worker_ends_the_other_in_time_and_all_resume_in_the_same_bits(
    number, whole, request, count, tmp_path
):
    what, which = CASES[number]
    hosts = request.getfixturevalue("network") if what == "cut" else ()
    workdir = tmp_path / "run"
    processes = start(workdir, *([hosts] if hosts else []))
    moment = random.Random(number)
    wait_for(workdir, moment.randint(1, 20), processes[0])
    time.sleep(moment.uniform(0, 0.3))
    begin = time.monotonic()
    left = [processes[1 - which]]
    if what == "kill":
        processes[which].kill()
    elif what == "stop":
        processes[which].send_signal(signal.SIGSTOP)
    else:
        shell(f"ip link set {OURS} down")
        left = processes
    try:
        ended = end(left, NOTICED + ENDING)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert time.monotonic() - begin < NOTICED + ENDING
    for code, err in ended:
        count("stack traces seen", err.count("Traceback"))
        assert code == 1 and "Traceback" not in err, err
        assert "another worker ended or stopped responding" in err
    count("interruptions survived")
    assert [code for code, _ in end(start(workdir), 300)] == [0, 0]
    assert_same_run(whole, workdir)

"""A full disk: one line of error, and the previous good files stay."""

import subprocess

import pytest
from faults import damage
from faults.conftest import COMMANDS, TRAINED
from helpers import assert_same_run, flags

pytestmark = pytest.mark.faults


@pytest.fixture
def disk(tmp_path):
    """A small disk of its own."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(path)]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"mounting a small disk is not permitted: {done.stderr}")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def fill(disk, left):
    """Fills a disk but for some bytes; returns the file to remove."""
    filler = disk / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            file.truncate(max(file.tell() - left, 0))
    return filler


OTHER = {
    "sample": ["--seeds=200-700"],
    "interpolate": ["--pairs=9"],
    "reconstruct": ["--n=4", "--iterations=5"],
    "evaluate": ["--n=61", "--metrics=mse"],
    "export": ["--format=npz"],
    "attractors": ["--n=21", "--steps=40"],
}


@pytest.mark.parametrize("left", [0, 8192])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_keeps_what_was_written(
    command, left, finished, zygote, judge, count, disk
):
    name = COMMANDS[command][1][0].rpartition("/")[2]
    out = disk / name if command == "export" else disk
    args = f"--workdir={finished[0]}", f"--out={out}"
    judge(zygote.run(command, *args, *COMMANDS[command][0]), codes=(0,))
    before = damage.contents(disk)
    filler = fill(disk, left)
    ended = judge(zygote.run(command, *args, *OTHER[command]))
    count("full disks survived")
    if ended.code:
        assert "No space left" in ended.err
        after = damage.contents(disk)
        assert {n: after[n] for n in before} == before
    elif command in ("sample", "interpolate"):
        pytest.fail("what does not fit was written")
    filler.unlink()
    judge(zygote.run(command, *args, *OTHER[command]), codes=(0,))


def test_a_run_on_a_full_disk_resumes_in_the_same_bits(
    trained, zygote, judge, count, disk
):
    args = f"--workdir={disk / 'run'}", *flags(**TRAINED)
    for left in (0, 4_096, 30_000, 60_000, 100_000):
        filler = fill(disk, left)
        ended = judge(zygote.run("train", *args))
        if ended.code:
            assert "No space left" in ended.err, ended
        count("full disks survived")
        filler.unlink()
    judge(zygote.run("train", *args), codes=(0,))
    assert_same_run(trained[0], disk / "run")

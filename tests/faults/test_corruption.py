"""Every file of a run, damaged: one line of error, and nothing else lost."""

import random

import pytest
from faults import damage
from helpers import TINY, untrained_run

from srmcmc_tf.errors import UserError
from srmcmc_tf.evaluation.records import RecordFile
from srmcmc_tf.runs.run import Run
from srmcmc_tf.serving import served

# For each file the command that reads it. Those of training are read when it
# resumes.
READ_BY = {
    "config.json": ("sample", "--seeds=0-3"),
    "checkpoints/000012/state.index": ("sample", "--seeds=0-3"),
    "checkpoints/000012/state.data-00000-of-00001": ("sample", "--seeds=0-3"),
    "interventions.jsonl": ("train", "--updates=14"),
    "evaluations.json": ("train", "--updates=14"),
    "metrics.jsonl": ("train", "--updates=14"),
    "generated/evaluation.json": ("evaluate", "--n=60", "--metrics=mse"),
    "generated/reconstruction.json": ("export",),
}
READERS = {
    "config.json": lambda run: run.config,
    "interventions.jsonl": lambda run: run.interventions.up_to(100),
    "evaluations.json": lambda run: run.evaluations.read(),
    "metrics.jsonl": lambda run: run.metrics(),
    "generated/evaluation.json": lambda run: RecordFile(
        run.generated_directory / "evaluation.json", "a"
    ),
    "generated/reconstruction.json": lambda run: run.measurements("a"),
}
SOUND = {
    "interventions.jsonl": '{"number": 1, "update": 3, "reason": "a", "sigma": '
    '0.5, "back_to": 0, "seed": 5, "sigma_least": 0.0}\n',
    "evaluations.json": '{"4": {"fid": {"value": 2.5, "n": 60}}}\n',
    "metrics.jsonl": '{"update": 1, "loss": 0.5}\n{"update": 2, "loss": 0.4}\n',
    "generated/evaluation.json": '{"identity": "a", "records": {"mse": '
    '{"value": 0.5, "n": 4, "request": "b"}}}\n',
    "generated/reconstruction.json": '{"identity": "a", "n": 3, "mse": 0.5}\n',
}


def read_damaged(run, name, tries, seed):
    """Damages a file in many ways; each is read, or one line of error."""
    path = run.path / name
    sound = path.read_bytes()
    for i in range(tries):
        generator = random.Random(f"{seed} {name} {i}")
        kind = generator.choice(list(damage.DAMAGES))
        path.write_bytes(damage.DAMAGES[kind](sound, generator))
        damaged = path.read_bytes()
        try:
            READERS[name](Run(run.path))
        except UserError as error:
            assert name.rpartition("/")[2] in str(error), kind
            assert "\n" not in str(error), kind
        assert path.read_bytes() == damaged  # reading changes nothing
    path.write_bytes(sound)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    run = untrained_run(tmp_path_factory.mktemp("runs") / "small", **TINY)
    run.generated_directory.mkdir()
    for name, text in SOUND.items():
        (run.path / name).write_text(text)
    return run


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_one_line(small, name, count):
    read_damaged(small, name, 40, seed=0)
    count("corruptions tried", 40)


@pytest.mark.faults
@pytest.mark.parametrize("name", READERS)
def test_a_thousand_damages_are_read_or_one_line(small, name, count):
    read_damaged(small, name, 1_000, seed=1)
    count("corruptions tried", 1_000)


@pytest.mark.faults
@pytest.mark.parametrize("name", READ_BY)
def test_a_command_survives_every_damage(
    name, finished, zygote, judge, count, tmp_path
):
    intact = damage.contents(finished[0])
    for kind in damage.ALL:
        run = damage.copy(finished[0], tmp_path / kind)
        damage.apply(kind, run / name, random.Random(f"{name} {kind}"))
        before = damage.contents(run)
        if before.get(name) == intact.get(name):
            continue  # such as numbers of a file that has none
        command, *args = READ_BY[name]
        ended = judge(zygote.run(command, f"--workdir={run}", *args))
        count("corruptions tried")
        after = damage.contents(run)
        if ended.code == 1:  # nothing was lost
            kept = {n: after.get(n) for n in before if is_kept(n)}
            assert kept == {n: before[n] for n in kept}, kind
        if name.startswith("checkpoints") and kind not in ("null",):
            # The one before it is used.
            assert ended.code == 0 and "warning: cannot restore" in ended.err


@pytest.mark.faults
@pytest.mark.parametrize(
    "name",
    [
        *("model_card.json", "saved_model.pb", "fingerprint.pb"),
        *(
            "variables/variables.index",
            "variables/variables.data-00000-of-00001",
        ),
    ],
)
def test_a_damaged_export_is_loaded_or_one_line(
    name, exported, tmp_path, count
):
    for kind in ("empty", "half", "flip", "insert", "random", "missing"):
        export = damage.copy(exported[0] / "export", tmp_path / kind)
        damage.apply(kind, export / "1" / name, random.Random(f"{name} {kind}"))
        try:
            served.load(export)
        except UserError as error:
            assert "\n" not in str(error)
        count("corruptions tried")


def is_kept(name):
    """Whether a file of a run stays where a command ends with an error."""
    return not name.startswith(("tensorboard", ".lock"))

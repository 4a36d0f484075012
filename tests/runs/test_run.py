import dataclasses
import json
import subprocess
import sys

import pytest
from helpers import ROOT, TINY
from hypothesis import given
from strategies import changed, damaged

import srmcmc_tf
from srmcmc_tf.config import presets, upgrade
from srmcmc_tf.config.config import FIELDS
from srmcmc_tf.errors import UserError
from srmcmc_tf.runs.run import Run

CONFIG = dataclasses.replace(presets.load("digits"), **TINY)


@pytest.fixture
def run(tmp_path):
    run = Run(tmp_path / "run")
    with run.lock():
        run.save_config(CONFIG, "0123")
    run.written = json.loads((run.path / "config.json").read_text())
    return run


def change_config(run, changes, drop=True):
    """Rewrites config.json with changes; None drops a name."""
    values = {**run.written, **changes}
    if drop:
        values = {n: v for n, v in values.items() if v is not None}
    (run.path / "config.json").write_text(json.dumps(values))


def test_a_config_is_read_as_it_was_written(run):
    again = Run(run.path).require()
    assert again.config == CONFIG and again.data_digest == "0123"
    values = json.loads((run.path / "config.json").read_text())
    assert values["format"] == upgrade.FORMAT and values["K"] == CONFIG.K
    assert values["version"] == srmcmc_tf.__version__


def test_a_directory_without_a_config_is_no_run(tmp_path):
    with pytest.raises(UserError, match="is not a run directory; bin/train"):
        Run(tmp_path).require()
    assert not Run(tmp_path).exists


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', "\0"])
def test_a_damaged_config_is_named(run, text):
    (run.path / "config.json").write_text(text)
    with pytest.raises(UserError, match="config.json is damaged .*; restore"):
        Run(run.path).require()


def test_a_setting_that_was_lost_gets_no_default(run):
    for name in FIELDS:
        change_config(run, {name: None})
        with pytest.raises(UserError, match=f"config.json: lacks {name}; "):
            Run(run.path).require()


@pytest.mark.parametrize("value", [True, 5.0, "5", None, [5], -1])
def test_a_setting_of_another_type_or_range_is_named_with_the_file(run, value):
    change_config(run, {"K": value}, drop=False)
    with pytest.raises(UserError, match=r"config\.json: --K=.*whole number"):
        Run(run.path).require()


def test_a_run_of_before_versions_is_read(run):
    change_config(run, {"format": 1, "version": None})
    assert Run(run.path).config == CONFIG


def test_a_run_of_a_later_version_is_refused_by_name(run):
    change_config(run, {"format": upgrade.FORMAT + 1, "version": "9.1"})
    with pytest.raises(UserError, match=r"written by srmcmc_tf 9\.1 in"):
        Run(run.path).require()


def test_flags_of_a_run_may_only_grow_it_or_name_the_machine(run):
    assert run.settle({"updates": 99}).updates == 99
    assert run.settle({"strategy": "one"}).strategy == "one"
    with pytest.raises(UserError, match=r"--K=9 \(the run has 3\)"):
        run.settle({"K": 9})
    with pytest.raises(UserError, match="--updates=2"):
        run.settle({"updates": 2})


def test_a_new_run_takes_the_settings_of_its_dataset_and_the_flags(tmp_path):
    config = Run(tmp_path / "new").settle({"dataset": "cifar10", "K": 7})
    assert config == dataclasses.replace(presets.load("cifar10"), K=7)


def test_changed_data_are_refused(run):
    with run.lock(), pytest.raises(UserError, match="data of .* have changed"):
        run.save_config(CONFIG, "4567")


def test_a_locked_run_is_refused_and_a_run_that_never_began_vanishes(tmp_path):
    run = Run(tmp_path / "run")
    with run.lock():
        with pytest.raises(UserError, match="another process is training"):
            with Run(run.path).lock():
                pass
    assert not run.path.exists()


def test_a_directory_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="contains other files"):
        with Run(tmp_path).lock():
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_logged_lines_after_an_update_are_dropped(run):
    lines = [json.dumps({"update": u}) + "\n" for u in (1, 2, 3)]
    run.metrics_file.write_text("".join(lines))
    run.resume_metrics(2)
    assert run.metrics() == [{"update": 1}, {"update": 2}]


def test_pictures_are_in_the_order_of_their_updates(run):
    run.picture(0).parent.mkdir()
    for update in (1_000_000, 500, 999_999):
        run.picture(update).touch()
    run.picture(0).with_name("mine.png").touch()
    updates = [int(path.stem) for path in run.pictures()]
    assert updates == [500, 999_999, 1_000_000]


def test_measurements_of_other_weights_are_left_out(run):
    run.generated_directory.mkdir()
    path = run.generated_directory / "evaluation.json"
    records = {"fid": {"value": 1.0}}
    path.write_text(json.dumps({"identity": "mine", "records": records}))
    assert run.measurements("mine") == records
    assert run.measurements("other") == {}
    path.write_text("{")
    with pytest.raises(UserError, match="evaluation.json is damaged"):
        run.measurements("mine")


def test_a_run_is_read_without_tensorflow(run):
    code = (
        "import sys; from srmcmc_tf.runs.run import Run; "
        f"print(Run({str(run.path)!r}).config.K, 'tensorflow' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == "3 False\n", done.stderr


SOUND = {
    **dataclasses.asdict(CONFIG),
    "data_digest": "0123",
    "format": upgrade.FORMAT,
    "version": srmcmc_tf.__version__,
}


@given(changed(SOUND, fewest=1).map(str.encode) | damaged(json.dumps(SOUND)))
def test_any_config_is_read_as_it_is_or_named(tmp_path_factory, content):
    run = Run(tmp_path_factory.mktemp("run"))
    path = run.path / "config.json"
    path.write_bytes(content)
    try:
        found = dataclasses.asdict(run.config)
    except UserError as error:
        assert str(path) in str(error) and path.read_bytes() == content
        return
    stored = json.loads(content)
    added = dict(upgrade.ADDED)
    for name, value in found.items():  # nothing else is assumed
        assert value == stored.get(name, added.get(name, None))
        assert type(value) is not bool
